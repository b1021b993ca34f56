import { JOBS, LOCK_AT_LEAST_FOR_MS, type DeployMessage } from './settings';

/** The combined records of the workers of a deploy. */
export interface Verdict {
  readonly runs: number;
  /** Calls that rejected. */
  readonly skipped: number;
  /** The lock's violations, a sentence each. */
  readonly complaints: readonly string[];
  /**
   * From the end of a run to the start of the next one of the same job, and also from the start and to the
   * end of the test.
   */
  readonly longestGapMs: number;
}

interface Run {
  readonly token: number;
  readonly requestedAtMs: number;
  readonly enteredAtMs: number;
  readonly leftAtMs: number;
  readonly held: boolean;
}

/** SQLite's clock counts whole milliseconds, and may run a little faster or slower than the machine's. */
const CLOCKS_DIFFER_MS = 10;

/** @param perWorker the messages of each worker, in their order */
export function judge(
  perWorker: readonly (readonly DeployMessage[])[],
  { fromMs, untilMs }: { readonly fromMs: number; readonly untilMs: number },
): Verdict {
  const all = JOBS.map((job) => ({ job, runs: perWorker.flatMap((messages) => runsOf(job, messages)) }));
  for (const { runs } of all) runs.sort((a, b) => a.enteredAtMs - b.enteredAtMs);
  return {
    runs: all.reduce((sum, { runs }) => sum + runs.length, 0),
    complaints: [
      ...all.flatMap(({ job, runs }) => runs.flatMap((run, i) => complaintsOf(job, run, runs[i - 1]))),
      ...perWorker.flatMap((messages) => messages.flatMap(failureOf)),
    ],
    skipped: perWorker.flat().filter(({ event }) => event === 'failed').length,
    longestGapMs: Math.max(...all.map(({ runs }) => longestGapMs(runs, fromMs, untilMs))),
  };
}

function runsOf(job: string, messages: readonly DeployMessage[]): Run[] {
  return messages.flatMap((entered) => {
    if (entered.event !== 'enter' || entered.job !== job) return [];
    const { token, requestedAtMs, atMs: enteredAtMs } = entered;
    const left = messages.find((each) => each.event === 'leave' && each.job === job && each.token === token);
    if (left?.event !== 'leave')
      return [{ token, requestedAtMs, enteredAtMs, leftAtMs: Infinity, held: true }];
    return [{ token, requestedAtMs, enteredAtMs, leftAtMs: left.atMs, held: left.held }];
  });
}

function complaintsOf(job: string, run: Run, before: Run | undefined): string[] {
  const complaints: string[] = [];
  const name = `${job}, run ${run.token}`;
  if (run.leftAtMs === Infinity) complaints.push(`${name}: its worker ended inside it.`);
  if (!run.held) complaints.push(`${name}: the lock was released while it ran.`);
  if (before === undefined) return complaints;
  if (run.enteredAtMs < before.leftAtMs) complaints.push(`${name}: it started inside run ${before.token}.`);
  const keptUntilMs = before.requestedAtMs + LOCK_AT_LEAST_FOR_MS - CLOCKS_DIFFER_MS;
  if (job === JOBS[1] && run.enteredAtMs < keptUntilMs)
    complaints.push(`${name}: it started within lockAtLeastFor of run ${before.token}.`);
  if (run.token <= before.token) complaints.push(`${name}: its token is not higher than ${before.token}.`);
  return complaints;
}

function failureOf(message: DeployMessage): string[] {
  if (message.event !== 'failed' || message.isStorage) return [];
  return [`${message.job}: ${message.text}`];
}

function longestGapMs(runs: readonly Run[], fromMs: number, untilMs: number): number {
  let longest = 0;
  let freeSinceMs = fromMs;
  for (const { enteredAtMs, leftAtMs } of runs) {
    longest = Math.max(longest, enteredAtMs - freeSinceMs);
    freeSinceMs = Math.max(freeSinceMs, leftAtMs);
  }
  return Math.max(longest, untilMs - freeSinceMs);
}
