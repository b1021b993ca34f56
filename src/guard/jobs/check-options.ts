import { InvalidLockConfigurationError } from '../../core';
import { callOption, checkOptionNames, describeValue, refuseOption } from '../../core/options';
import type { OncePerConfiguration } from '../../ledger';
import type { JobGuardOptions, LabelledConfiguration, MethodOptions } from './job-guard-options';

const METHOD_OPTIONS = ['enabled', 'onSkip'] satisfies (keyof MethodOptions)[];

const STORE = ['lockProvider', 'pollInterval', 'statementTimeout', 'nameLength', 'keepRows', 'grouping'];
const OPERATION = ['enabled', 'retention', 'keepLog', 'redact', 'lazy', 'logger', 'lateAfter', 'notify'];
const PROCESS = ['instanceName', 'clock', 'events', 'random'];
const DEFAULTS = ['defaultLockAtMostFor', 'defaultLockAtLeastFor', 'defaultKeepAlive', 'defaultTimeZone'];
const TABLES = ['lockTable', 'runTable', 'jobTable', 'schema', 'columns'];
const CONNECTIONS = ['connections', 'transactionConnections', 'password'];
/** Those of `createJobGuard` too, which passes them on. */
const GUARD_OPTIONS = [...STORE, ...OPERATION, ...PROCESS, ...DEFAULTS, ...TABLES, ...CONNECTIONS];

const TIMES = ['lockAtMostFor', 'lockAtLeastFor', 'keepAlive', 'maxLockDuration'];
const LOCK_OPTIONS = ['name', ...TIMES, 'shared', 'nameLength', ...METHOD_OPTIONS, 'label', 'oncePer'];

const PERIOD = ['period', 'name', 'timeZone', 'dayStart', 'target'];
const RUNS = ['retry', 'onCrash', 'startDeadline', 'calendar', 'scope', 'resume', 'maxSkew'];
const CATCH_UP = ['catchUp', 'catchUpWindow', 'catchUpLimit'];
const ONCE_PER_OPTIONS = [...PERIOD, ...RUNS, ...CATCH_UP, ...METHOD_OPTIONS];
const RETRY_OPTIONS = ['maxAttempts', 'initialDelay', 'factor', 'maxDelay', 'until'];

const GONE = {
  runStore:
    'createJobGuard of a driver keeps the runs in its database, and that of cronlatch/memory keeps them in memory. Both take another lock provider as lockProvider.',
  standby: 'use enabled, with the opposite value.',
};

function refuseHistory(options: object, job: string): void {
  if (!('history' in options)) return;
  throw new InvalidLockConfigurationError(
    `The option history of job '${job}' is gone: a job that has only a lock keeps no record. To record each of its calls, use @OncePer('tick'), or oncePer: { period: 'tick' }.`,
  );
}

/** @throws InvalidLockConfigurationError naming the option */
export function checkGuardOptions(options: JobGuardOptions): void {
  for (const [option, successor] of Object.entries(GONE))
    if (Object(options) === options && option in options)
      throw new InvalidLockConfigurationError(`The option ${option} is gone: ${successor}`);
  checkOptionNames(options, GUARD_OPTIONS, 'the job guard', { dueEvery: 'pollInterval' });
}

/**
 * Table functions take the options of a guard, so that both can share an object.
 *
 * @throws InvalidLockConfigurationError naming the option
 */
export function checkTableOptions(options: object): void {
  checkOptionNames(options, [...GUARD_OPTIONS, 'rowLockTable'], 'the tables');
}

/** @throws InvalidLockConfigurationError naming the lock or the job, and the option */
export function checkJobOptions({ oncePer, ...others }: LabelledConfiguration): void {
  const { name } = others;
  refuseHistory(others, name);
  checkOptionNames(others, LOCK_OPTIONS, `lock '${name}'`, { maxHold: 'maxLockDuration' });
  if (oncePer !== undefined) checkOncePerOptions(oncePer, oncePer.name ?? name);
}

/** @throws InvalidLockConfigurationError naming the job and the option */
export function checkOncePerOptions(options: OncePerConfiguration, job: string): void {
  refuseHistory(options, job);
  checkOptionNames(options, ONCE_PER_OPTIONS, `job '${job}'`);
  const renamed = { minDelay: 'initialDelay', backoff: 'factor' };
  checkOptionNames(options.retry ?? {}, RETRY_OPTIONS, `retry of job '${job}'`, renamed);
}

/** @throws InvalidLockConfigurationError for an invalid `enabled` or `onSkip` */
export function checkMethodOptions({ enabled, onSkip }: MethodOptions, job: string): void {
  parseSwitch(enabled ?? true, `job '${job}'`);
  if (onSkip === undefined || onSkip === 'resolve' || onSkip === 'throw') return;
  refuseOption(`onSkip of job '${job}'`, onSkip, `it must be 'resolve' or 'throw'`);
}

/** A function is called for each tick and each check for overdue runs. */
export type Switch = boolean | (() => boolean);

/**
 * Checks the option `enabled`.
 *
 * @param owner for messages: `job 'close-day'`
 * @returns a function that throws an InvalidLockConfigurationError if the option throws or does not return a boolean
 * @throws InvalidLockConfigurationError if the option is neither a boolean nor a function
 */
export function parseSwitch(option: Switch, owner: string): () => boolean {
  if (typeof option === 'boolean') return () => option;
  if (typeof option !== 'function')
    refuseOption(`enabled of ${owner}`, option, 'it must be a boolean, or a function that returns one');
  const didNotRun = 'so the job did not run. It must return true or false.';
  return () => {
    const answer: unknown = callOption(option, `enabled of ${owner} threw an error, ${didNotRun}`);
    if (typeof answer === 'boolean') return answer;
    throw new InvalidLockConfigurationError(
      `enabled of ${owner} returned ${describeValue(answer)}, ${didNotRun}`,
    );
  };
}
