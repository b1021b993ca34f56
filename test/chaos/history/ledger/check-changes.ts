import type { Run } from 'cronlatch/provider';
import type { History } from '../history';
import type { KnownJob, LedgerHistory, RowChange } from './ledger-history';

/**
 * L1, L2, L3: every change of a row is in the table of changes, by an actor who may make it, and completed
 * runs stay completed.
 */
export function checkChanges(_: History, ledger: LedgerHistory): string[] {
  const claimHosts = claimHostsOf(ledger);
  return ledger.changes.flatMap((change) => {
    const { key, job, by, before, after, atMs } = change;
    const known = ledger.jobs.get(job);
    if (by === undefined || after === undefined || known === undefined) return [];
    const wrong =
      before === undefined ? ofNew(change, after) : ofOld(change, { before, after, known, claimHosts });
    if (wrong === undefined) return [];
    const from = before === undefined ? 'absent' : `${before.state} (attempt ${before.attempt})`;
    const what = `${from} to ${after.state} (attempt ${after.attempt})`;
    return [`${wrong}: host ${by.host}'s ${by.statement} of ${key} at ${atMs}, from ${what}`];
  });
}

/** The host of each claim. */
function claimHostsOf({ changes }: LedgerHistory): ReadonlyMap<string, number> {
  return new Map(
    changes.flatMap(({ by, before, after }) => {
      const claim = after?.state === 'running' ? after.claimedBy : undefined;
      return by === undefined || claim === undefined || claim === before?.claimedBy ? [] : [[claim, by.host]];
    }),
  );
}

function ofNew({ by }: RowChange, after: Run): string | undefined {
  if (by?.statement !== 'insert') return 'L1 a row was created by a statement that changes rows';
  if (after.state === 'skipped' || after.state === 'pending') return undefined;
  return after.state === 'running' && after.attempt === 1 ? undefined : 'L2 not a first attempt';
}

interface OldRow {
  readonly before: Run;
  readonly after: Run;
  readonly known: KnownJob;
  readonly claimHosts: ReadonlyMap<string, number>;
}

function ofOld(change: RowChange, row: OldRow): string | undefined {
  const { before, after } = row;
  if (change.by?.statement === 'insert') return 'L1 an insert overwrote a row';
  if (after.generation !== before.generation) return 'L3 another generation without an operator';
  switch (before.state) {
    case 'completed':
      return 'L3 a completed run was changed';
    case 'skipped':
      return 'L3 a skipped run was changed';
    case 'pending':
    case 'failed':
      return ofWaiting(row);
    case 'running':
      return ofRunning(change, row);
    case 'interrupted':
      return after.state === 'completed'
        ? ofHolder(change, row)
        : 'L4 a run that waits for an operator was changed';
  }
}

function ofWaiting({ before, after, known }: OldRow): string | undefined {
  if (after.state === 'running') {
    const isDue = before.nextAttemptAt !== undefined && before.nextAttemptAt <= after.updatedAt;
    return isDue ? ofNextAttempt(before, after, known) : 'L2 an attempt before it was due';
  }
  if (after.state === 'failed' && after.nextAttemptAt === undefined) return ofPermanentFailure(after, known);
  return 'L2 no such change';
}

function ofRunning(change: RowChange, row: OldRow): string | undefined {
  const { before, after, known } = row;
  switch (after.state) {
    case 'running':
      if (known.onCrash === 'hold') return 'L4 a run was retried that must be held';
      return ofNextAttempt(before, after, known);
    case 'interrupted':
      return known.onCrash === 'hold' ? undefined : 'L4 a run was held that must be retried';
    case 'failed':
      if (after.reason === 'lease-ended') return ofPermanentFailure(after, known);
      return (
        ofHolder(change, row) ??
        (after.nextAttemptAt === undefined ? ofPermanentFailure(after, known) : undefined)
      );
    case 'pending':
      return after.attempt === before.attempt - 1
        ? ofHolder(change, row)
        : 'L2 an attempt was not given back';
    case 'completed':
    case 'skipped':
      return ofHolder(change, row);
  }
}

function ofNextAttempt(before: Run, after: Run, { maxAttempts }: KnownJob): string | undefined {
  if (after.attempt !== before.attempt + 1) return 'L2 attempts do not rise one by one';
  if (after.claimedBy === before.claimedBy) return 'L2 two attempts by one claim';
  return after.attempt > maxAttempts ? `L2 more than ${maxAttempts} attempts` : undefined;
}

function ofPermanentFailure(
  { attempt, reason }: Run,
  { maxAttempts, hasUntil }: KnownJob,
): string | undefined {
  const isSpent = attempt >= maxAttempts;
  switch (reason) {
    case 'fatal':
      return undefined;
    case 'until':
      return hasUntil ? undefined : 'L4 failed permanently for an unknown reason';
    case 'lease-ended':
    case 'exhausted':
      return isSpent || (reason === 'lease-ended' && hasUntil)
        ? undefined
        : 'L4 failed permanently with attempts left';
    case undefined:
    default:
      return 'L4 failed permanently without a reason';
  }
}

/** L1: only the claim that holds the row may end its attempt. */
function ofHolder({ by }: RowChange, { before, after, claimHosts }: OldRow): string | undefined {
  const { claimedBy = '' } = before;
  const isHolder = claimHosts.get(claimedBy) === by?.host && (by?.claimedBy ?? claimedBy) === claimedBy;
  if (!isHolder) return 'L1 an end by another host than the holder';
  return after.claimedBy === claimedBy ? undefined : 'L1 an end in the name of another claim';
}
