import { AsyncLocalStorage } from 'node:async_hooks';
import { isThenable } from '../../core/execution/event-hub';
import { processState } from '../../core/process-state';

export interface GuardedCallee {
  readonly instance: unknown;
  readonly method: (...args: never[]) => unknown;
}

/** What a scheduler knows about a call besides its arguments. */
export interface Invocation {
  readonly scheduledAt: Date | undefined;
  /**
   * Called with an error that the guard has reported. If it returns `true`, the call resolves to `undefined`. Otherwise
   * the error propagates to the caller, through all wrappers around the method.
   */
  readonly onReportedError?: ((error: unknown, callee: GuardedCallee) => boolean) | undefined;
  /** Whether the scheduler itself calls this function, and not a handler that calls it among others. */
  readonly isTickOf?: ((callee: GuardedCallee) => boolean) | undefined;
}

/** Ends when its call has settled: timers and listeners that the call leaves behind keep it in their context. */
export interface OpenInvocation extends Invocation {
  hasEnded: boolean;
  /** Only the first call per job and scope gets it: a handler that never settles must not pass it to all later runs. */
  takeScheduledTime(job: string, scope: string): boolean;
}

const storage = processState('invocation', () => new AsyncLocalStorage<OpenInvocation | undefined>());

/** For integrations: calls a guarded function for a scheduler. The invocation ends when the call has settled. */
export function invoke<T>(given: Invocation, call: () => T): T | Promise<Awaited<T>> {
  const taken = new Set<string>();
  const takeScheduledTime = (job: string, scope: string): boolean => {
    const { size } = taken;
    return taken.add(JSON.stringify([job, scope])).size > size;
  };
  const invocation = { ...given, takeScheduledTime, hasEnded: false };
  const end = (): void => void (invocation.hasEnded = true);
  let result: T | undefined;
  try {
    result = storage.run(invocation, call);
  } finally {
    if (!isThenable(result)) end();
  }
  // Awaits the result exactly once, because a query builder runs its query for each `then`.
  return isThenable(result) ? Promise.resolve(result as T).finally(end) : result;
}

/** For schedulers that do not wait for the functions that they call: the invocation lasts until the call has settled. */
export function extendInvocation<A extends unknown[]>(
  call: (this: unknown, ...args: A) => unknown,
): (this: unknown, ...args: A) => unknown {
  return function (...args) {
    const invocation = currentInvocation();
    if (invocation === undefined) return call.apply(this, args);
    return invoke(invocation, () => call.apply(this, args));
  };
}

/**
 * For integrations: like `invoke`, but resolves to `undefined` after an error that the guard has reported. Rejects with
 * errors from outside the guard, which the scheduler must report.
 */
export async function invokeTick<T>(
  scheduledAt: Date | undefined,
  call: () => Promise<T>,
): Promise<T | undefined> {
  const reportedErrors = new Set<unknown>();
  const onReportedError = (error: unknown): boolean => {
    reportedErrors.add(error);
    return false;
  };
  try {
    return await invoke({ scheduledAt, onReportedError, isTickOf: () => true }, call);
  } catch (error) {
    if (reportedErrors.has(error)) return undefined;
    throw error;
  }
}

/** Passes the invocation to the first guarded function that is called, and hides it from all that this function calls. */
export function takeInvocation<T>(call: (invocation: OpenInvocation | undefined) => T): T {
  const invocation = currentInvocation();
  return storage.run(undefined, () => call(invocation));
}

function currentInvocation(): OpenInvocation | undefined {
  const invocation = storage.getStore();
  return invocation?.hasEnded ? undefined : invocation;
}
