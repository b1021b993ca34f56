import { AsyncLocalStorage } from 'node:async_hooks';
import { processState } from '../core/process-state';

/** A guarded function, and what it was called on. */
export interface GuardedCallee {
  readonly instance: unknown;
  readonly method: (...args: never[]) => unknown;
}

/** What a scheduler knows about a call that its arguments do not say. */
export interface Invocation {
  readonly scheduledAt: Date | undefined;
  /**
   * Told of an error that the guard has reported. By `true` it ends there and the call resolves to `undefined`; else it
   * goes on through whatever is wrapped around the method.
   */
  readonly reported?: (error: unknown, callee: GuardedCallee) => boolean;
}

const storage = processState('invocation', () => new AsyncLocalStorage<Invocation | undefined>());

/** For integrations: calls a guarded function on behalf of a scheduler. */
export function invoke<T>(invocation: Invocation, call: () => T): T {
  return storage.run(invocation, call);
}

/**
 * For integrations: the same, where an error that the guard has reported comes out as `undefined`. What came from
 * outside of the guard rejects, and is the scheduler's to report.
 */
export async function invokeTick<T>(
  scheduledAt: Date | undefined,
  call: () => Promise<T>,
): Promise<T | undefined> {
  const told = new Set<unknown>();
  const reported = (error: unknown): boolean => {
    told.add(error);
    return false;
  };
  try {
    return await invoke({ scheduledAt, reported }, call);
  } catch (error) {
    if (told.has(error)) return undefined;
    throw error;
  }
}

/** Hands the invocation to the first guarded function that is called, and to nothing that this one calls. */
export function takeInvocation<T>(call: (invocation: Invocation | undefined) => T): T {
  const invocation = storage.getStore();
  return storage.run(undefined, () => call(invocation));
}
