import { checkDeclaredConfiguration } from '../core/lock-configuration';
import type { DurationSource, MethodLock } from '../guard/jobs/job-guard-options';
import { labelled, withTimes } from '../guard/jobs/lock-functions';
import { checkJobOptions, checkMethodOptions } from '../guard/jobs/check-options';
import { functionDecorator } from './function-decorator';
import { guardMethod } from './guard-method';
import type { SchedulerLockDecorator, ThrowingLockDecorator } from './skippable';

/**
 * Runs the decorated method under this lock, on one instance at a time. A call that does not get the lock resolves to
 * `undefined` at once, or with `onSkip: 'throw'` rejects with a `JobSkippedError`. Works with legacy and standard decorators, in any order with other decorators.
 *
 * The decorated method is asynchronous. It rejects with its own errors, and with a `LockStorageError` if the store did
 * not confirm the lock; the method then did not run.
 *
 * If `name` is a function, it gets the arguments of each call, so that only calls with the same name exclude each other.
 * If a time is a function, it gets the instance of the class: `(jobs: ReportJobs) => jobs.config.getOrThrow('REPORT_LIMIT')`.
 * The guard calls it once for each instance, when it registers the job, or else in the first call.
 *
 * @param lockAtMostFor how long a crashed run may block the next one. Default: the guard's `defaultLockAtMostFor`
 * @param lockAtLeastFor how long the lock is kept from its start, even if the run is shorter. Covers clocks that differ
 * @throws InvalidLockConfigurationError when the decorator is applied, naming the lock and the value
 * @throws InvalidLockUseError if the target is not a function, or already has a lock
 */
export function SchedulerLock(
  name: string,
  lockAtMostFor?: DurationSource<[jobs: never]>,
  lockAtLeastFor?: DurationSource<[jobs: never]>,
): SchedulerLockDecorator;
export function SchedulerLock(
  configuration: MethodLock & { readonly onSkip: 'throw' },
): ThrowingLockDecorator;
export function SchedulerLock(configuration: MethodLock): SchedulerLockDecorator;
export function SchedulerLock(
  first: string | MethodLock,
  lockAtMostFor?: DurationSource<[jobs: never]>,
  lockAtLeastFor?: DurationSource<[jobs: never]>,
): SchedulerLockDecorator | ThrowingLockDecorator {
  const configuration =
    typeof first === 'object' ? { ...first } : { name: first, lockAtMostFor, lockAtLeastFor };
  const declared = labelled(configuration, '@SchedulerLock');
  checkDeclaredConfiguration(withTimes(declared));
  checkJobOptions({ ...configuration, name: declared.name });
  checkMethodOptions(declared, declared.name);
  const label = declared.name === '@SchedulerLock' ? declared.name : `@SchedulerLock('${declared.name}')`;
  return functionDecorator(label, (method, name) =>
    guardMethod(method, name, { lock: labelled(configuration, name), origin: configuration }),
  ) as SchedulerLockDecorator;
}
