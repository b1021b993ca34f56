interface Watch {
  readonly callbacks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignal, Watch>();

/**
 * Calls back when the signal aborts. All callbacks of a signal share one listener: many waiters often share a signal,
 * and Node warns about a leak from the eleventh listener on.
 *
 * @returns a function that stops watching
 */
export function onAbort(signal: AbortSignal, callback: () => void): () => void {
  const { callbacks, listener } = watches.get(signal) ?? watch(signal);
  callbacks.add(callback);
  return () => {
    if (!callbacks.delete(callback) || callbacks.size > 0) return;
    signal.removeEventListener('abort', listener);
    watches.delete(signal);
  };
}

function watch(signal: AbortSignal): Watch {
  const callbacks = new Set<() => void>();
  const listener = (): void => {
    for (const callback of [...callbacks]) callback();
  };
  signal.addEventListener('abort', listener);
  const created = { callbacks, listener };
  watches.set(signal, created);
  return created;
}
