/** Longer ones are cut. */
const LONGEST = 8192;

/** Everything that moves a terminal's cursor or ends a line, and what turns the direction of the text around. */
const UNSAFE = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/gu;
const LINE_BREAKS = /[\n\v\f\r\u0085\u2028\u2029]+/;

/** A text as one line of a log. It may be of anybody: a job's error can hold what a stranger has sent. */
export function logLine(text: string): string {
  const lines = text.slice(0, LONGEST).split(LINE_BREAKS);
  const beginning = lines
    .map((each) => each.trim())
    .join(' ')
    .replaceAll(UNSAFE, escaped);
  const line = beginning.slice(0, LONGEST);
  const missing = Math.max(0, text.length - LONGEST) + beginning.length - line.length;
  const whole =
    missing === 0 ? line : `${withoutHalf(line)}… (${missing.toLocaleString('en')} more characters)`;
  return whole.trim().toWellFormed();
}

function escaped(character: string): string {
  return character === '\t' ? ' ' : `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Of a character that takes two code units, the first alone is nothing. */
function withoutHalf(line: string): string {
  return line.at(-1)?.isWellFormed() === false ? line.slice(0, -1) : line;
}
