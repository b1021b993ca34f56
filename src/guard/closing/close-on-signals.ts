import { constants } from 'node:os';
import { processState } from '../../core/process-state';

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** The listeners of all guards, and the number of guards that a signal is closing now. */
const ours = processState('signals', () => ({ listeners: new Set<unknown>(), closing: 0 }));

/** @returns a function that stops listening */
export function closeOnSignals(
  close: () => Promise<unknown>,
  warn: (message: string, error: unknown) => void,
): () => void {
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    ours.listeners.delete(onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    const isHandled = othersListen(signal);
    // From now on a second signal has its usual effect.
    stopListening();
    ours.closing += 1;
    close()
      .catch((error: unknown) => warn('Closing the guard failed.', error))
      .finally(() => {
        ours.closing -= 1;
        // The last guard to close lets the process end.
        if (ours.closing === 0 && !isHandled && !othersListen(signal)) endBy(signal);
      });
  };
  ours.listeners.add(onSignal);
  // Ours must come first, because a listener that the application added with `once` is gone after its turn.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  return stopListening;
}

/** A signal without a listener does not end the first process of a container, so it exits with a shell's status for it. */
function endBy(signal: NodeJS.Signals): void {
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
  process.kill(process.pid, signal);
}

function othersListen(signal: NodeJS.Signals): boolean {
  return process.listeners(signal).some((listener) => !ours.listeners.has(listener));
}
