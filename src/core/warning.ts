export function warnInProcess(message: string): void {
  process.emitWarning(message, { code: 'CRONLATCH' });
}
