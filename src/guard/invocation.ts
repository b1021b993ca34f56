import { AsyncLocalStorage } from 'node:async_hooks';
import { processState } from '../core/process-state';

/** What a scheduler knows about a call that its arguments do not say. */
export interface Invocation {
  readonly scheduledAt: Date | undefined;
  /** Told of an error that the guard has reported, so that the scheduler need not. */
  readonly reported?: (error: unknown) => void;
}

const storage = processState('invocation', () => new AsyncLocalStorage<Invocation | undefined>());

/** For integrations: calls a guarded function on behalf of a scheduler. */
export function invoke<T>(invocation: Invocation, call: () => T): T {
  return storage.run(invocation, call);
}

/** Hands the invocation to the first guarded function that is called, and to nothing that this one calls. */
export function takeInvocation<T>(call: (invocation: Invocation | undefined) => T): T {
  const invocation = storage.getStore();
  return storage.run(undefined, () => call(invocation));
}
