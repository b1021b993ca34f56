import type { LockConfiguration, LockedTask } from '../../core';
import type { JobPolicy } from '../policy/job-policy';
import type { RunKey } from '../run';
import type { HostTime } from './which-instant';

/** One call of a job that runs once per period. */
export interface OncePerRequest<T> {
  readonly policy: JobPolicy;
  readonly scope: string;
  readonly lock: LockConfiguration;
  readonly task: LockedTask<T>;
  /** What a run that is brought back calls. */
  readonly resumed: (run: RunKey) => LockedTask<unknown>;
  /** `'tick'`; a tick that was not answered, `'again'`; or `'owed'`: only what is owed is brought back. */
  readonly purpose: 'tick' | 'again' | 'owed';
  /** Decides the period, whatever the time; and nothing else is brought back then. */
  readonly at?: Date | undefined;
  readonly scheduledAt?: Date | undefined;
  /** When this host heard of a tick. */
  readonly heard?: HostTime | undefined;
  /** When the tick is not answered, it is asked again. */
  readonly isAskedAgain: boolean;
}

/** What became of a request, told as it goes. */
export interface Report {
  /** There is a row for the period that was asked about. */
  isAnswered: boolean;
  /** Not to be asked again: its period was over, or nobody can tell which it is. */
  isOver: boolean;
  /** The period, by the database's now, before which a look found nothing to be caught up with. */
  caughtUpIn: string | undefined;
  started: number;
  /** How many runs should have been started. */
  owed: number;
}

export function newReport(): Report {
  return { isAnswered: false, isOver: false, caughtUpIn: undefined, started: 0, owed: 0 };
}
