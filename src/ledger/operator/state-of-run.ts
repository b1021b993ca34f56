import type { RunIdentity } from '../../core';
import { instanceOf } from '../../core/lease/owner';
import { BoundedCache } from '../periods/bounded-cache';
import { isRunAhead, LEASE_ENDED, type Run } from '../run';
import type { RunState } from '../run-state';
import { remedyFor, type Remedy } from './remedy';

export interface StateOfRun {
  readonly state: RunState;
  /** A sentence without its subject, which is the run, and without its full stop. */
  readonly sentence: string;
  /** The sentence without its reason. */
  readonly brief: string;
  /** The beginning of its error, or why it was skipped. */
  readonly reason?: string | undefined;
  /** What happens next, or what an operator can do: a sentence, which stands before the command of a remedy. */
  readonly advice?: string | undefined;
  readonly remedy?: Remedy | undefined;
}

/** What is known of a run: at least its attempt and its state. */
export type KnownRun = RunIdentity & Pick<Run, 'state'> & Partial<Run>;

type Next = Pick<StateOfRun, 'advice' | 'remedy'>;

/** Puts an instant into words that follow a verb, such as `at 2026-11-24 03:00:00Z`. */
export type When = (instant: Date | undefined) => string;

export interface RunWords {
  /** Whether a process holds the lock of the job, if that is known. */
  readonly isLocked?: boolean | undefined;
  /** As `readLockId` returns it for the lock of the job. */
  readonly lockId?: string | undefined;
  readonly when?: When;
  /** The database's current time, if that is known. */
  readonly now?: Date | undefined;
}

/** The only place that puts the state of a run into words. */
export function stateOfRun(
  run: KnownRun,
  { isLocked = true, lockId, when = atTime, now }: RunWords = {},
): StateOfRun {
  const { state, attempt, nextAttemptAt, startedAt, finishedAt, claimedBy } = run;
  const holder = claimedBy === undefined ? 'its holder' : instanceOf(claimedBy);
  const notBack = `its lease had ended, and ${holder} has not come back`;
  const error = firstLines(run.error)?.replace(/\.$/, '');
  const reason = run.reason === LEASE_ENDED ? notBack : (error ?? run.reason);
  const clock = isRunAhead(run, now) ? AHEAD : '';
  const is = (text: string, next?: Next, because?: string): StateOfRun => {
    const sentence = because === undefined ? text : `${text}: ${because}`;
    return { state, sentence: sentence + clock, brief: text + clock, reason: because, ...next };
  };
  const rerun: Next = { advice: 'To run it again:', remedy: remedyFor('rerun', run) };
  const early = clock ? rerun : undefined;
  switch (state) {
    case 'pending':
      return is(`was due ${when(nextAttemptAt)}`, { advice: `An instance starts it ${AT_A_CHECK}.` });
    case 'running':
      return isLocked
        ? is(`is recorded as running: attempt ${attempt} started ${when(startedAt)} on ${holder}`)
        : is(
            `began ${when(startedAt)} on ${holder}, but no process holds the lock`,
            takeOverOf(run, lockId, when),
          );
    case 'completed':
      return is(
        `completed ${when(finishedAt)}`,
        { ...rerun, remedy: remedyFor('rerun', run, { force: true }) },
        reason,
      );
    case 'failed':
      return nextAttemptAt === undefined
        ? is(`failed permanently ${when(finishedAt)}, after attempt ${attempt}`, rerun, reason)
        : is(`failed ${when(finishedAt)}, and is due again ${when(nextAttemptAt)}`, early, reason);
    case 'interrupted':
      return is(`was interrupted${finishedAt ? ` ${when(finishedAt)}` : ''}: ${notBack}`, {
        advice:
          'It may still be running: look there first. Then record its outcome: completed, failed or pending.',
        remedy: remedyFor('resolve', run, { as: 'OUTCOME' }),
      });
    case 'skipped':
      return is('was skipped', { ...rerun, advice: 'To run it anyway:' }, reason);
  }
}

/** A free lock proves that the holder is gone, but only if the run was claimed under this lock. */
function takeOverOf(run: KnownRun, lockId: string | undefined, when: When): Next {
  const isTaken = `If its holder is gone, an instance takes it over ${AT_A_CHECK}`;
  const isLater = `after its longest lease has ended ${when(run.leaseUntil)}`;
  if (run.lockId === lockId) return { advice: `${isTaken}.` };
  if (lockId === undefined)
    return { advice: `${isTaken}, or ${isLater}: the place of the locks is unknown here.` };
  return {
    advice: `It was claimed under another lock, or in another place of the locks. ${isTaken} ${isLater}. To run it again now:`,
    remedy: remedyFor('rerun', run, { force: true }),
  };
}

const AHEAD = `. Its times lie ahead of the database's clock, which was ahead then, or has been set back since. If the period must run, wait until it has begun`;
const AT_A_CHECK = 'when it checks for overdue runs';

/** Enough of an error to recognize it, without its stack. */
export function firstLines(error: string | undefined): string | undefined {
  return error?.split(/\n\s+at /)[0]?.slice(0, 120);
}

const atTime: When = (instant) => `at ${timeText(instant)}`;

/** To the second, with the offset of the time zone: UTC, if this host does not know it. `-` if the instant is unknown. */
export function timeText(instant: Date | undefined, timeZone = 'UTC'): string {
  if (instant === undefined || Number.isNaN(instant.getTime())) return '-';
  // Swedish writes dates as ISO 8601 does, but has a minus sign of its own.
  const [date, time, zone = ''] = fieldsOf(instant, timeZone).split(' ');
  return `${date} ${time}${zone.replace('GMT+00:00', 'Z').replace('GMT', '').replace('−', '-')}`;
}

/** To make one takes longer than to use it. */
const formats = new BoundedCache<Intl.DateTimeFormat>(100);

function fieldsOf(instant: Date, timeZone: string): string {
  try {
    const format = formats.get(timeZone, () => new Intl.DateTimeFormat('sv-SE', { ...FIELDS, timeZone }));
    return format.format(instant);
  } catch {
    return fieldsOf(instant, 'UTC'); // A host with newer time zone data has recorded the run.
  }
}

const FIELDS: Intl.DateTimeFormatOptions = {
  year: 'numeric',
  month: '2-digit',
  day: '2-digit',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  timeZoneName: 'longOffset',
};
