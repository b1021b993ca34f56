/** As they are when this module is loaded: a suite that fakes timers must not stop us. */
const later = setTimeout;
const notAfterAll = clearTimeout;

/** Calls back after that much time of the host, whatever the clock of the providers shows. @returns cancels it */
export function afterRealTime(delayMs: number, callback: () => void): () => void {
  const timer = later(callback, delayMs);
  return () => notAfterAll(timer);
}
