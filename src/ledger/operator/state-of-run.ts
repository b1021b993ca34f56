import type { Run, RunSummary } from '../run';
import type { RunState } from '../run-state';

/** The state of a run, for people. */
export interface StateOfRun {
  readonly state: RunState;
  /** A sentence without its subject, which is the run, and without its full stop. */
  readonly sentence: string;
  readonly remedy: Remedy | undefined;
}

/** What happens next, or what an operator can do. */
interface Remedy {
  /** A sentence. If there is a command, it stands before that. */
  readonly advice: string;
  /** The command, which is also the name of the function of the ledger, and what it takes besides the run and the reason. */
  readonly command?: readonly ['rerun' | 'resolve', options?: string];
}

/**
 * The only place that puts the state of a run into words.
 *
 * @param run with its error, if that has been read
 * @param isLocked whether a process holds the lock of the job, if that is known
 */
export function stateOfRun(run: RunSummary & Pick<Partial<Run>, 'error'>, isLocked = true): StateOfRun {
  const { state, attempt, nextAttemptAt, startedAt, finishedAt, claimedBy } = run;
  const reason = (briefly(run.error) ?? run.reason)?.replace(/\.$/, '');
  const because = reason === undefined ? '' : `: ${reason}`;
  const is = (sentence: string, remedy?: Remedy): StateOfRun => ({ state, sentence, remedy });
  switch (state) {
    case 'pending':
      return is(`is due since ${timeText(nextAttemptAt)}`, {
        advice: `An instance starts it ${AT_A_CHECK}.`,
      });
    case 'running':
      return isLocked
        ? is(`is running: attempt ${attempt} started at ${timeText(startedAt)} on ${claimedBy}`)
        : is(`began at ${timeText(startedAt)} on ${claimedBy}, but no process holds the lock`, {
            advice: `If its holder has crashed, an instance takes it over ${AT_A_CHECK}.`,
          });
    case 'completed':
      return is(`completed at ${timeText(finishedAt)}`, { ...RERUN, command: ['rerun', ' --force'] });
    case 'failed':
      return nextAttemptAt === undefined
        ? is(`failed permanently at ${timeText(finishedAt)}, after attempt ${attempt}${because}`, RERUN)
        : is(`failed at ${timeText(finishedAt)}, and is due again at ${timeText(nextAttemptAt)}${because}`);
    case 'interrupted':
      return is('was interrupted, because its holder crashed', RESOLVE);
    case 'skipped':
      return is(`was skipped${because}`, { ...RERUN, advice: 'To run it anyway:' });
  }
}

const AT_A_CHECK = 'when it checks for overdue runs';
const RERUN: Remedy = { advice: 'To run it again:', command: ['rerun'] };
const RESOLVE: Remedy = {
  advice: 'Check what it did, then record that:',
  command: ['resolve', ' --as completed|failed|pending'],
};

/** Enough of an error to recognize it, without its stack. */
export function briefly(error: string | undefined): string | undefined {
  return error?.split(/\n\s+at /)[0]?.slice(0, 120);
}

/** In UTC, to the second. `-` if it is unknown. */
export function timeText(instant: Date | undefined): string {
  if (instant === undefined || Number.isNaN(instant.getTime())) return '-';
  return `${instant.toISOString().slice(0, 19).replace('T', ' ')}Z`;
}
