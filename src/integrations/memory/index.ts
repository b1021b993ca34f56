/**
 * Locks and runs that only this process sees: for tests, and for tools that run in one process.
 *
 * @packageDocumentation
 */
import { InvalidLockConfigurationError, systemClock, type Clock } from '../../core';
import type { JobGuard, JobGuardOptions } from '../../guard';
import { guardWithRuns } from '../../guard/job-guard';
import { noticesOf } from '../../operations/notices';
import { InMemoryLockProvider } from '../../storage/memory/in-memory-lock-provider';
import { InMemoryRunStore } from '../../storage/memory/in-memory-run-store';

export { InMemoryLockProvider };

export interface MemoryOptions {
  /** The clock of the locks and runs, and of the guards. Default: the system clock. */
  readonly clock?: Clock | undefined;
  /** The maximum length of lock names. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
}

export interface MemoryGuardOptions extends Omit<JobGuardOptions, 'lockProvider' | 'nameLength'> {
  /** Provides the locks instead of the memory. You close it yourself. */
  readonly lockProvider?: JobGuardOptions['lockProvider'] | undefined;
}

const STATEMENTS = ['peek', 'overdue', 'insert', 'change', 'complete', 'find', 'events', 'purge'] as const;
const runStores = new WeakMap<Memory, InMemoryRunStore>();

/**
 * What one process keeps of locks and runs. Guards that share it stand for several instances of an application. It keeps no
 * requests, notices and logs.
 */
export class Memory {
  readonly clock: Clock;
  readonly nameLength: number | undefined;
  readonly lockProvider: InMemoryLockProvider;
  readonly #failures: Error[] = [];

  constructor({ clock = systemClock, nameLength }: MemoryOptions = {}) {
    this.clock = clock;
    this.nameLength = nameLength;
    const [locks, runs] = [new InMemoryLockProvider({ clock, nameLength }), new InMemoryRunStore({ clock })];
    this.lockProvider = failing(locks, this.#failures, ['lock']);
    runStores.set(this, failing(runs, this.#failures, STATEMENTS));
  }

  /**
   * The next request for a lock, or the next statement on a run, rejects with this error and does nothing, as in an outage
   * of the database. Several calls make as many of them fail, in their order.
   */
  failNext(error: Error): void {
    this.#failures.push(error);
  }
}

/**
 * Creates a guard whose locks and runs are in memory. It sends nothing, so there is nothing to await. Closing the guard
 * leaves the memory as it is, for other guards.
 *
 * @throws InvalidLockConfigurationError naming the option
 */
export function createJobGuard(memory: Memory = new Memory(), options: MemoryGuardOptions = {}): JobGuard {
  const { clock, nameLength } = memory;
  const { lockProvider = memory.lockProvider } = options;
  const runStore = runStores.get(memory);
  if (runStore === undefined)
    throw new InvalidLockConfigurationError(
      'createJobGuard of cronlatch/memory needs a Memory. Pass new Memory(), or nothing.',
    );
  return guardWithRuns({ clock, nameLength, ...options, lockProvider }, runStore, noticesOf);
}

/** The same store, whose methods of these names reject with the next of the failures, while there are any. */
function failing<Store extends object>(
  store: Store,
  failures: Error[],
  names: readonly (keyof Store)[],
): Store {
  return new Proxy(store, {
    get(target, key) {
      const value: unknown = Reflect.get(target, key);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        const failure = names.includes(key as keyof Store) ? failures.shift() : undefined;
        return failure === undefined ? Reflect.apply(value, target, args) : Promise.reject(failure);
      };
    },
  });
}
