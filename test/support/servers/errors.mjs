/** @typedef {{ name: string, reasons: string[] }} MissingServer One reason for each step that was tried. */

/** A required server is not available. */
export class MissingServerError extends Error {
  /** @param {MissingServer[]} missing */
  constructor(missing) {
    super(missing.map(describe).join('\n'));
    this.name = 'MissingServerError';
    this.missing = missing;
  }
}

/**
 * A server exists, but it is not the requested one, or a named one does not answer. Another step must not
 * hide it.
 */
export class WrongServerError extends Error {
  name = 'WrongServerError';
}

/** A thrown value may have any type. @param {unknown} thrown */
export function messageOf(thrown) {
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** @param {MissingServer} server */
function describe({ name, reasons }) {
  return [`The server '${name}' is required, but is not available:`, ...reasons.map((r) => `  - ${r}`)].join(
    '\n',
  );
}
