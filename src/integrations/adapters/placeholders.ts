/** The text around the placeholders of a statement. A quoted name may contain what looks like one. */
export function textParts(text: string): readonly string[] {
  return text
    .replace(/("(?:[^"]|"")*"|`(?:[^`]|``)*`)|\?|\$\d+/g, (_, quoted?: string) => quoted ?? BREAK)
    .split(BREAK);
}

/** No statement contains it. */
const BREAK = '\0';
