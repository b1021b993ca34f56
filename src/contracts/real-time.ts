/** Taken when this module is loaded, so that a test suite that fakes timers does not stop us. */
const later = setTimeout;
const notAfterAll = clearTimeout;

/** Calls back after real time, independently of the clock of the providers. @returns a function that cancels it */
export function afterRealTime(delayMs: number, callback: () => void): () => void {
  const timer = later(callback, delayMs);
  return () => notAfterAll(timer);
}
