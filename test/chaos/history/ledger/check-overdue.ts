import { LockStorageError } from 'cronlatch';
import type { Run } from 'cronlatch/provider';
import type { History } from '../history';
import type { Call, LedgerHistory } from './ledger-history';

/**
 * If the clock was set back further than this, some rows lie so far ahead that the check does not wait for
 * them.
 */
const LONGEST_SET_BACK_MS = 10_000;

/**
 * L4, L7: some time after the last fault, nothing is overdue: every run has ended, every tick was answered,
 * and jobs that catch up have no missed periods.
 */
export function checkOverdue(_: History, ledger: LedgerHistory): string[] {
  if (ledger.clockSets.some(({ byMs }) => byMs < -LONGEST_SET_BACK_MS)) return [];
  const rows = new Map(ledger.changes.map(({ key, after }) => [key, after]));
  const open = [...rows].flatMap(([key, run]) =>
    run === undefined || hasEnded(run) ? [] : [`L4: ${key} is still ${run.state}, attempt ${run.attempt}`],
  );
  const unanswered = ledger.calls.flatMap((call) => {
    const key = overdueKeyOf(ledger, call);
    return key === undefined || rows.has(key)
      ? []
      : [`L4: host ${call.host}'s tick at ${call.invokedAtMs} for ${key} was not answered`];
  });
  const missed = missedPeriods(ledger, rows).map((key) => `L7: ${key} was missed, and not caught up with`);
  return [...open, ...unanswered, ...missed];
}

function hasEnded({ state, nextAttemptAt }: Run): boolean {
  switch (state) {
    case 'running':
    case 'pending':
      return false;
    case 'failed':
      return nextAttemptAt === undefined;
    case 'completed':
    case 'skipped':
    case 'interrupted':
      return true;
  }
}

/**
 * The key of an unanswered tick that a surviving host retries, unless its period may have ended meanwhile.
 */
function overdueKeyOf(ledger: LedgerHistory, call: Call): string | undefined {
  const { host, job, scope, scheduledAt, answer } = call;
  const periodAt = ledger.jobs.get(job)?.periodAt;
  const isKept = answer !== undefined && !isAnswered(answer) && ledger.survivors.includes(host);
  const isKnown = ledger.wallClocksAreRight && ledger.clockSets.length === 0;
  if (!isKept || !isKnown || periodAt === undefined || scheduledAt === undefined) return undefined;
  const { key, end } = periodAt(scheduledAt);
  return end > ledger.endsAt ? `${job}/${scope}/${key}` : undefined;
}

/** The periods between the first recorded or the last purged one, and the current one. */
function missedPeriods(ledger: LedgerHistory, rows: ReadonlyMap<string, Run | undefined>): string[] {
  return [...ledger.jobs.values()].flatMap(({ job, periodAt, catchesUp }) => {
    const purged = ledger.purged.flatMap(({ before }) => (before?.job === job && before.periodStart) || []);
    const lastPurgedMs = Math.max(...purged.map((start) => start.getTime()));
    const starts = [...rows.values()]
      .flatMap((run) => (run?.job === job && run.periodStart) || [])
      .filter((start) => start.getTime() > lastPurgedMs);
    if (!catchesUp || periodAt === undefined || starts.length === 0) return [];
    const missed: string[] = [];
    let { end } = periodAt(new Date(Math.min(...starts.map((start) => start.getTime()))));
    for (let next = periodAt(end); next.end <= ledger.endsAt; next = periodAt(end)) {
      const key = `${job}//${next.key}`;
      if (rows.get(key) === undefined) missed.push(key);
      ({ end } = next);
    }
    return missed;
  });
}

function isAnswered(answer: NonNullable<Call['answer']>): boolean {
  if ('error' in answer) return !(answer.error instanceof LockStorageError);
  return answer.result.executed || !['locked', 'running-here'].includes(answer.result.reason);
}
