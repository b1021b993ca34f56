import type { AdaptedAnswer } from '../sql/adapted-transaction';

/** The text around the placeholders of a statement. A quoted name may contain what looks like one. */
export function textParts(text: string): readonly string[] {
  return text
    .replace(/("(?:[^"]|"")*"|`(?:[^`]|``)*`)|\?|\$\d+/g, (_, quoted?: string) => quoted ?? BREAK)
    .split(BREAK);
}

/** No statement contains it. */
const BREAK = '\0';

/**
 * Reads the answer of a driver that a query builder passes on: `[header]` or `[rows]` of mysql2, `{ rows }` of pg, or the
 * rows alone.
 */
export function driverAnswer(dialect: 'mysql' | 'postgres', answer: unknown): AdaptedAnswer {
  const [first] = dialect === 'mysql' && Array.isArray(answer) ? (answer as unknown[]) : [answer];
  if (Array.isArray(first)) return { rows: first as AdaptedAnswer['rows'], affectedRows: undefined };
  const { rows = [], affectedRows } = first as Partial<AdaptedAnswer>;
  return { rows, affectedRows };
}
