import { AsyncLocalStorage } from 'node:async_hooks';
import { isThenable } from '../core/execution/task-result';
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
  readonly reported?: ((error: unknown, callee: GuardedCallee) => boolean) | undefined;
}

/** An invocation until its call has settled: timers and listeners that the call leaves behind keep it in their context. */
export class OpenInvocation implements Invocation {
  readonly scheduledAt: Date | undefined;
  readonly reported: Invocation['reported'];
  isOver = false;
  readonly #served = new Set<string>();

  constructor({ scheduledAt, reported }: Invocation) {
    this.scheduledAt = scheduledAt;
    this.reported = reported;
  }

  /** True once per job and scope: a call that never settles must not give one scheduled time to all later runs. */
  serve(job: string, scope: string): boolean {
    const key = JSON.stringify([job, scope]);
    const isFirst = !this.#served.has(key);
    this.#served.add(key);
    return isFirst;
  }
}

const storage = processState('invocation', () => new AsyncLocalStorage<OpenInvocation | undefined>());

/** For integrations: calls a guarded function on behalf of a scheduler. The invocation ends when the call has settled. */
export function invoke<T>(invocation: Invocation, call: () => T): T | Promise<Awaited<T>> {
  return during(new OpenInvocation(invocation), call);
}

/**
 * For integrations with a scheduler that does not wait for the functions that it calls: wraps one of them, so that the
 * invocation lasts until this function has settled.
 */
export function prolongingInvocation<A extends unknown[]>(
  call: (this: unknown, ...args: A) => unknown,
): (this: unknown, ...args: A) => unknown {
  return function (...args) {
    const invocation = currentInvocation();
    if (invocation === undefined) return call.apply(this, args);
    return invoke(invocation, () => call.apply(this, args));
  };
}

function during<T>(invocation: OpenInvocation, call: () => T): T | Promise<Awaited<T>> {
  let result: T | undefined;
  try {
    result = storage.run(invocation, call);
  } finally {
    if (!isThenable(result)) invocation.isOver = true;
  }
  return isThenable(result) ? untilSettled(invocation, result as T) : result;
}

/** Awaits the result once, and nobody else does: a query builder runs its query for each `then`. */
async function untilSettled<T>(invocation: OpenInvocation, result: T): Promise<Awaited<T>> {
  try {
    return await result;
  } finally {
    invocation.isOver = true;
  }
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
export function takeInvocation<T>(call: (invocation: OpenInvocation | undefined) => T): T {
  const invocation = currentInvocation();
  return storage.run(undefined, () => call(invocation));
}

function currentInvocation(): OpenInvocation | undefined {
  const invocation = storage.getStore();
  return invocation?.isOver ? undefined : invocation;
}
