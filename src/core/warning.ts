/** Where warnings go by default. */
export function warnInProcess(message: string): void {
  process.emitWarning(message, { code: 'CRONLATCH' });
}
