import type { Account } from './crowd';

/** What a crowd has done together. */
export interface Tally {
  /** When every job had run. `undefined` if one never did. */
  readonly allRanMs: number | undefined;
  /** When the last tick of the last process had ended. */
  readonly allEndedMs: number;
  /** The mean processor time of a process. */
  readonly cpuMs: number;
  /** The smallest and the largest number of jobs that a process has run. */
  readonly fewest: number;
  readonly most: number;
  readonly never: number;
  /** Jobs that ran in more than one process. */
  readonly twice: number;
  readonly failures: readonly string[];
}

export function tallyOf(jobs: readonly string[], accounts: readonly Account[]): Tally {
  const timesOf = (job: string): number[] => accounts.flatMap(({ ranAfterMs }) => ranAfterMs[job] ?? []);
  const times = jobs.map(timesOf);
  const shares = accounts.map(({ ranAfterMs }) => Object.keys(ranAfterMs).length);
  const never = times.filter((each) => each.length === 0).length;
  return {
    allRanMs: never > 0 ? undefined : Math.max(0, ...times.map((each) => Math.min(...each))),
    allEndedMs: Math.max(0, ...accounts.map(({ endedAfterMs }) => endedAfterMs)),
    cpuMs: accounts.reduce((total, { cpuMs }) => total + cpuMs, 0) / accounts.length,
    fewest: Math.min(...shares),
    most: Math.max(...shares),
    never,
    twice: times.filter((each) => each.length > 1).length,
    failures: accounts.flatMap(({ failures }) => failures),
  };
}
