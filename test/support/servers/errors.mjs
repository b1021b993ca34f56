/** @typedef {{ name: string, reasons: string[] }} MissingServer One reason for each step that was tried. */

/** A server that the caller cannot do without is not to be had. */
export class MissingServerError extends Error {
  /** @param {MissingServer[]} missing */
  constructor(missing) {
    super(missing.map(describe).join('\n'));
    this.name = 'MissingServerError';
    this.missing = missing;
  }
}

/** A server is there, but not the one asked for, or a named one does not answer. Another step must not hide it. */
export class WrongServerError extends Error {
  name = 'WrongServerError';
}

/** What was thrown may be anything. @param {unknown} thrown */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** @param {MissingServer} server */
function describe({ name, reasons }) {
  return [`The server '${name}' is required, but cannot be had:`, ...reasons.map((r) => `  - ${r}`)].join(
    '\n',
  );
}
