/** In characters. Longer lines are cut. */
const MAX_LINE_LENGTH = 8192;

/** Characters that move a terminal's cursor, end a line or change the direction of the text. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/;

/** Makes one safe log line of a text, which can contain input from strangers: a job's error may quote it. */
export function logLine(text: string): string {
  const lines = text.slice(0, MAX_LINE_LENGTH).split(LINE_BREAKS);
  const beginning = lines
    .map((each) => each.trim())
    .join(' ')
    .replaceAll(UNSAFE, escaped);
  const line = beginning.slice(0, MAX_LINE_LENGTH);
  const missing = Math.max(0, text.length - MAX_LINE_LENGTH) + beginning.length - line.length;
  const whole =
    missing === 0 ? line : `${withoutLoneSurrogate(line)}… (${missing.toLocaleString('en')} more characters)`;
  return whole.trim().toWellFormed();
}

function escaped(character: string): string {
  return character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Cutting a line can leave the first half of a surrogate pair at its end. */
function withoutLoneSurrogate(line: string): string {
  return line.at(-1)?.isWellFormed() === false ? line.slice(0, -1) : line;
}
