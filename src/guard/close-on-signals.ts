const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** @returns a function that stops listening */
export function closeOnSignals(
  close: () => Promise<unknown>,
  warn: (message: string, error: unknown) => void,
): () => void {
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    // From here on a second signal has its usual effect.
    stopListening();
    close()
      .catch((error: unknown) => warn('Closing the guard failed.', error))
      .finally(() => {
        if (process.listenerCount(signal) === 0) process.kill(process.pid, signal);
      });
  };
  for (const signal of SIGNALS) process.on(signal, onSignal);
  return stopListening;
}
