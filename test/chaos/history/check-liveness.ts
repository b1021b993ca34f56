import { LATEST_MS } from '../simulation/faults';
import type { Attempt, History } from './history';
import type { LeaseHistory } from './lease-history';

/** A deleted record is detected within a minute of a clock that runs at half the speed. */
export const MISSED_WITHIN_MS = 125_000;

/** P4: a refusal has a reason. */
export function checkLiveness(history: History, leases: readonly LeaseHistory[]): string[] {
  return history.attempts.flatMap((attempt) => {
    const { name, result, completedAtMs } = attempt;
    if (result !== 'held' || completedAtMs === undefined) return [];
    const own = leases.find(({ owner }) => owner === attempt.owner);
    const isExplained =
      leases.some((lease) => lease !== own && mayHaveRefused(lease, attempt, own)) ||
      isMissing(history, name, completedAtMs);
    return isExplained
      ? []
      : [
          `P4: host ${attempt.host} was refused '${name}' at ${completedAtMs}, although no host can have held it`,
        ];
  });
}

function mayHaveRefused(
  lease: LeaseHistory,
  { name, invokedAtMs, completedAtMs }: Attempt,
  own: LeaseHistory | undefined,
): boolean {
  if (lease.name !== name || lease.firstSentAtMs > (completedAtMs ?? Infinity)) return false;
  const endMs = lease.possibleEndMs();
  if (endMs !== invokedAtMs) return endMs > invokedAtMs;
  // Within a millisecond the order decides: a request after the answer to the release finds the lock free.
  return (own?.firstSentOrder ?? 0) < lease.releaseAnsweredOrder;
}

function isMissing({ damages }: History, name: string, atMs: number): boolean {
  return damages.some(
    (damage) =>
      damage.name === name && damage.atMs <= atMs && atMs - damage.atMs <= MISSED_WITHIN_MS + LATEST_MS,
  );
}
