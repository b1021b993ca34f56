import { lostEventOf } from '../tick/decide-claim';
import { isOurs } from '../tick/decide-outcome';
import type { Claim, Run } from '../run';
import type { Decision, FoundRun } from '../run-store';

/** Why a claimed run did not begin. No other instance begins it, because its slot is taken. */
export interface Cancellation {
  readonly reason: 'unconfirmed' | 'stopped' | 'closing';
  /** The explanation that the row keeps. */
  readonly error: string;
}

/** A claimed run that will not begin must not stay `running`. Pure: `RunStore.change` calls it and writes the result. */
export function decideCancellation(
  found: FoundRun | undefined,
  claim: Claim,
  { reason, error }: Cancellation,
): Decision<'recorded' | 'not-ours'> {
  if (found === undefined || !isOurs(found.run, claim)) return { value: 'not-ours' };
  const { run, now } = found;
  if (run.state !== 'running') return { value: run.reason === reason ? 'recorded' : 'not-ours' };
  const { generation, attempt, claimedBy: actor } = claim;
  return {
    value: 'recorded',
    write: { ...run, state: 'failed', reason, error, finishedAt: now, nextAttemptAt: undefined },
    events: [{ generation, attempt, kind: 'failed', actor, fencingToken: undefined, detail: error }],
  };
}

/** The lease of a running slot has expired. An operator must find out what the run did. */
export function decideExpired(
  found: FoundRun | undefined,
  claimedBy: string | undefined,
): Decision<Run | undefined> {
  if (found === undefined || !isExpired(found.run, found.now) || found.run.claimedBy !== claimedBy)
    return { value: undefined };
  const { run, now } = found;
  const write: Run = { ...run, state: 'interrupted', reason: 'crashed', finishedAt: now };
  return { value: run, write, events: [lostEventOf(run)] };
}

export function isExpired({ state, leaseUntil }: Pick<Run, 'state' | 'leaseUntil'>, now: Date): boolean {
  return state === 'running' && leaseUntil !== undefined && leaseUntil <= now;
}
