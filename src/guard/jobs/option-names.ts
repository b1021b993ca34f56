import { InvalidLockConfigurationError } from '../../core';
import type { GuardConfiguration, JobGuardOptions } from '../job-guard-options';

/** Old names of options. */
const RENAMED = {
  guard: { dueEvery: 'pollInterval' },
  lock: { maxHold: 'maxLockDuration' },
  retry: { minDelay: 'initialDelay', backoff: 'factor' },
} as const;

const GUARD_OPTIONS = optionNames(
  [
    ...['lockProvider', 'runStore', 'pollInterval', 'statementTimeout', 'nameLength', 'keepRows'],
    'grouping',
    ...['standby', 'retention'],
    ...['defaultLockAtMostFor', 'defaultLockAtLeastFor', 'defaultKeepAlive', 'defaultTimeZone'],
    ...['lockTable', 'runTable', 'jobTable', 'schema', 'columns', 'connections', 'transactionConnections'],
    ...['logger', 'overdueAfter'],
  ],
  RENAMED.guard,
);

/** The options of more than one word of a job, its `oncePer` and its retry. */
const JOB_OPTIONS = [
  ...['lockAtMostFor', 'lockAtLeastFor', 'keepAlive', 'maxLockDuration', 'nameLength', 'oncePer', 'onSkip'],
  ...['scheduledAt', 'timeZone', 'dayStart', 'onCrash', 'startDeadline', 'maxSkew'],
  ...['catchUp', 'catchUpWindow', 'catchUpLimit', 'maxAttempts', 'initialDelay', 'maxDelay'],
];
const LOCK_OPTIONS = optionNames(JOB_OPTIONS, RENAMED.lock);
const RETRY_OPTIONS = optionNames(JOB_OPTIONS, RENAMED.retry);

/**
 * Finds misspelt and renamed options for JavaScript, where the guard would silently ignore them. Two instances of which
 * one misspells `lockTable` would not exclude each other.
 *
 * @throws InvalidLockConfigurationError naming the option
 */
export function checkGuardOptions(options: JobGuardOptions): void {
  checkOptionNames(options, GUARD_OPTIONS, 'the job guard');
}

/**
 * The same for the functions that create and verify tables, which take those options of a guard that are about tables.
 *
 * @throws InvalidLockConfigurationError naming the option
 */
export function checkTableOptions(options: object): void {
  checkOptionNames(options, GUARD_OPTIONS, 'the tables');
}

/**
 * The same for the options of a job.
 *
 * @throws InvalidLockConfigurationError naming the lock and the option
 */
export function checkJobOptions({ name, oncePer, ...others }: GuardConfiguration): void {
  const owner = `lock '${name}'`;
  for (const options of [others, oncePer ?? {}]) checkOptionNames(options, LOCK_OPTIONS, owner);
  checkOptionNames(oncePer?.retry ?? {}, RETRY_OPTIONS, owner);
}

interface OptionNames {
  /** The correct names, by the lower-case spelling of a correct or an old name. */
  readonly meant: ReadonlyMap<string, string>;
  /** The correct names, and others that are like none of them. A process has thousands of jobs, but few names of options. */
  readonly accepted: Set<string>;
}

function optionNames(names: readonly string[], renamed: Readonly<Record<string, string>>): OptionNames {
  const pairs = [...names.map((name) => [name, name] as const), ...Object.entries(renamed)];
  return {
    meant: new Map(pairs.map(([written, correct]) => [written.toLowerCase(), correct])),
    accepted: new Set(pairs.map(([, correct]) => correct)),
  };
}

function checkOptionNames(options: object, { meant, accepted }: OptionNames, owner: string): void {
  for (const key of Object.keys(options)) {
    if (accepted.has(key)) continue;
    const written = key.toLowerCase();
    const near = meant.get(written) ?? [...meant].find(([name]) => isNear(written, name))?.[1];
    if (near !== undefined)
      throw new InvalidLockConfigurationError(
        `Unknown option '${key}' for ${owner}. Did you mean '${near}'?`,
      );
    accepted.add(key);
  }
}

/** Whether at most one character in four is wrong, missing or additional. */
export function isNear(written: string, name: string): boolean {
  const limit = Math.floor(name.length / 4);
  if (Math.abs(written.length - name.length) > limit) return false;
  // Levenshtein's distance, row by row.
  let distances = Array.from({ length: name.length + 1 }, (_, index) => index);
  for (const [row, character] of [...written].entries()) {
    const next = [row + 1];
    for (const [column, expected] of [...name].entries()) {
      const [above = 0, diagonal = 0, left = 0] = [distances[column + 1], distances[column], next[column]];
      next.push(Math.min(above + 1, left + 1, diagonal + (character === expected ? 0 : 1)));
    }
    distances = next;
  }
  return (distances[name.length] ?? 0) <= limit;
}
