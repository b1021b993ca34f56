import { checkOptionNames } from '../../core/options';
import type { OncePerConfiguration } from '../../ledger';
import type { GuardConfiguration, JobGuardOptions, MethodOptions } from '../job-guard-options';

const METHOD_OPTIONS = ['enabled', 'history', 'onSkip'] satisfies (keyof MethodOptions)[];

/** Those of `createJobGuard` too, which passes them on. */
const GUARD_OPTIONS = [
  ...['lockProvider', 'runStore', 'pollInterval', 'statementTimeout', 'nameLength', 'keepRows', 'grouping'],
  ...['standby', 'retention', 'lazy', 'logger', 'overdueAfter', 'clock', 'events', 'random'],
  ...['defaultLockAtMostFor', 'defaultLockAtLeastFor', 'defaultKeepAlive', 'defaultTimeZone'],
  ...['lockTable', 'runTable', 'jobTable', 'schema', 'columns', 'connections', 'transactionConnections'],
];
const LOCK_OPTIONS = [
  ...['name', 'lockAtMostFor', 'lockAtLeastFor', 'keepAlive', 'maxLockDuration', 'shared', 'nameLength'],
  ...[...METHOD_OPTIONS, 'label', 'oncePer'],
];
const ONCE_PER_OPTIONS = [
  ...['period', 'name', 'timeZone', 'dayStart', 'target', 'retry', 'onCrash', 'startDeadline', 'calendar'],
  ...['scope', 'resume', 'maxSkew', 'catchUp', 'catchUpWindow', 'catchUpLimit', ...METHOD_OPTIONS],
];
const RETRY_OPTIONS = ['maxAttempts', 'initialDelay', 'factor', 'maxDelay', 'until'];

/** @throws InvalidLockConfigurationError naming the option */
export function checkGuardOptions(options: JobGuardOptions): void {
  checkOptionNames(options, GUARD_OPTIONS, 'the job guard', { dueEvery: 'pollInterval' });
}

/**
 * For the functions that create and verify tables. They take the options of a guard, so that both can share an object.
 *
 * @throws InvalidLockConfigurationError naming the option
 */
export function checkTableOptions(options: object): void {
  checkOptionNames(options, [...GUARD_OPTIONS, 'rowLockTable'], 'the tables');
}

/** @throws InvalidLockConfigurationError naming the lock or the job, and the option */
export function checkJobOptions({ oncePer, ...others }: GuardConfiguration): void {
  const { name } = others;
  checkOptionNames(others, LOCK_OPTIONS, `lock '${name}'`, { maxHold: 'maxLockDuration' });
  if (oncePer !== undefined) checkOncePerOptions(oncePer, oncePer.name ?? name);
}

/** @throws InvalidLockConfigurationError naming the job and the option */
export function checkOncePerOptions(options: OncePerConfiguration, job: string): void {
  checkOptionNames(options, ONCE_PER_OPTIONS, `job '${job}'`);
  const renamed = { minDelay: 'initialDelay', backoff: 'factor' };
  checkOptionNames(options.retry ?? {}, RETRY_OPTIONS, `retry of job '${job}'`, renamed);
}
