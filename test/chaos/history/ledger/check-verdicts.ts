import { ClaimLostError, LockLostError, LockStorageError } from 'cronlatch';
import type { Run } from 'cronlatch/provider';
import type { History } from '../history';
import type { Call, HandlerRun, LedgerHistory, ReportedRun } from './ledger-history';

/** The results and events of a run agree with its row; an unknown outcome may be either. */
export function checkVerdicts(_: History, ledger: LedgerHistory): string[] {
  return [
    ...ledger.calls.flatMap((call) => {
      const wrong = wrongOfCall(ledger, call);
      const at = call.run === undefined ? call.job : `attempt ${call.run.claim.attempt} of ${call.run.key}`;
      return wrong === undefined ? [] : [`${wrong}: host ${call.host}'s tick at ${call.invokedAtMs}, ${at}`];
    }),
    ...ledger.reported.flatMap((report) => {
      const wrong = wrongOfEvent(ledger, report);
      return wrong === undefined ? [] : [`${wrong}: host ${report.host}'s ${report.event} of ${report.key}`];
    }),
  ];
}

function wrongOfCall(ledger: LedgerHistory, { host, run, answer }: Call): string | undefined {
  if (answer === undefined) return undefined;
  if ('result' in answer) {
    if (!answer.result.executed)
      return run === undefined ? undefined : 'L2 reported that nothing ran, and it did';
    if (answer.result.value !== run || run?.ending === undefined)
      return 'L2 returned the value of another run';
    return hasEnded(ledger, run, answer.order)
      ? undefined
      : 'L1 reported as executed, and its row contradicts that';
  }
  const { error, order } = answer;
  if (error instanceof LockStorageError) return undefined;
  if (error instanceof ClaimLostError) return wrongOfLost(ledger, run, order);
  if (run === undefined) return isOfLostLock(error) ? undefined : `an unexpected error: ${String(error)}`;
  if (run.ending !== 'threw' || run.error !== error)
    return `another error than that of the job: ${String(error)}`;
  if (endsOf(ledger, run, Infinity).some(({ state }) => state === 'completed'))
    return 'L1 a failure was completed';
  const stands = ledger.rowBefore(run.key, order);
  const isAbandoned = ledger.abandonments.some((closing) => closing.host === host && closing.order < order);
  const isOpen = !isAbandoned && stands?.state === 'running' && stands.claimedBy === run.claim.claimedBy;
  return isOpen ? 'L4 a failure was not recorded before it was reported' : undefined;
}

/** The lease was lost before the claim; or the guard is closing. */
function isOfLostLock(error: unknown): boolean {
  return error instanceof LockLostError || (error instanceof DOMException && error.name === 'AbortError');
}

function hasEnded(ledger: LedgerHistory, run: HandlerRun, order: number): boolean {
  const expected = {
    returned: 'completed',
    'given-back': 'pending',
    skipped: 'skipped',
    threw: 'failed',
  } as const;
  const state = run.ending && expected[run.ending];
  return endsOf(ledger, run, order).some((row) => row.state === state);
}

function wrongOfLost(ledger: LedgerHistory, run: HandlerRun | undefined, order: number): string | undefined {
  if (run === undefined) return 'L1 a claim was lost that no host made';
  if (run.ending === 'threw') return 'L4 reported a lost claim in place of the error of the job';
  // A run that was given back, without an answer, may belong to another host by the time of the check.
  const isKnown = ({ state }: Run): boolean => state !== 'pending';
  if (endsOf(ledger, run, Infinity).some(isKnown))
    return 'L1 reported its claim as lost, and its row contradicts that';
  const stands = ledger.rowBefore(run.key, order);
  const isOurs = stands?.state === 'running' && stands.claimedBy === run.claim.claimedBy;
  return isOurs ? 'L1 reported its claim as lost, and no other host has taken it' : undefined;
}

/** The outcomes that its holder has written of an attempt. */
function endsOf(ledger: LedgerHistory, { key, claim, host }: HandlerRun, order: number): Run[] {
  return ledger.changesOf(key).flatMap(({ by, before, after, order: at }) => {
    const isEnd =
      by?.host === host && before?.claimedBy === claim.claimedBy && after?.claimedBy === claim.claimedBy;
    const isHolders = isEnd && after.state !== 'interrupted' && after.reason !== 'lease-ended';
    return isHolders && at < order ? [after] : [];
  });
}

function wrongOfEvent(ledger: LedgerHistory, report: ReportedRun): string | undefined {
  const { key, generation, attempt, event, retryAt, reason, order } = report;
  const rows = ledger
    .changesOf(key)
    .flatMap((change) => (change.order < order && change.after ? [change.after] : []));
  const ofAttempt = rows.filter((run) => run.generation === generation && run.attempt === attempt);
  switch (event) {
    case 'run:completed':
      return ofAttempt.some(({ state }) => state === 'completed')
        ? undefined
        : 'L1 reported as completed, and is not';
    case 'run:failed': {
      const isRetried = (run: Run): boolean => run.nextAttemptAt?.getTime() === retryAt?.getTime();
      return retryAt === undefined || ofAttempt.some(isRetried)
        ? undefined
        : 'L4 reported as retried, and is not';
    }
    case 'run:givenBack':
      return rows.some((run) => isReason(run, 'given-back') && run.attempt === attempt - 1)
        ? undefined
        : 'L3 reported as given back, and never was';
    case 'run:skipped':
      return rows.some((run) => isReason(run, reason)) || NOT_OF_ROWS.includes(reason)
        ? undefined
        : `L3 reported as ${reason}, and never was`;
  }
}

const NOT_OF_ROWS: readonly ReportedRun['reason'][] = [
  undefined,
  'locked',
  'running-here',
  'closing',
  'calendar',
  'deadline',
];

function isReason({ state, nextAttemptAt }: Run, reason: ReportedRun['reason']): boolean {
  if (reason === 'already-completed') return state === 'completed';
  if (reason === 'running-elsewhere') return state === 'running';
  if (reason === 'given-back') return state === 'pending';
  if (reason === 'exhausted') return state === 'failed' && nextAttemptAt === undefined;
  if (reason === 'not-due') return (state === 'failed' || state === 'pending') && nextAttemptAt !== undefined;
  return state === reason;
}
