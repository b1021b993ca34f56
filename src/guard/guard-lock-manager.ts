import { LockManager, type LockingTaskExecutor } from '../core';
import type { Closing } from './closing/closing';
import type { JobGuardOptions } from './job-guard-options';

/** The lock manager of a guard. It closes with the guard. */
export function guardLockManager(
  { lockProvider, ...options }: Omit<JobGuardOptions, 'logger'>,
  executor: LockingTaskExecutor,
  closing: Closing,
): LockManager {
  const { clock, events, defaultLockAtMostFor, defaultLockAtLeastFor, defaultKeepAlive } = options;
  const defaults = {
    lockAtMostFor: defaultLockAtMostFor,
    lockAtLeastFor: defaultLockAtLeastFor,
    keepAlive: defaultKeepAlive,
  };
  const manager = new LockManager(lockProvider, { ...defaults, clock, events }, executor);
  // Running jobs keep the locks that they have taken by hand until they have ended.
  closing.add({ stop: () => Promise.resolve(manager.stop()), release: () => manager.close() });
  return manager;
}
