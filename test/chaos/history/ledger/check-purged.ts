import type { History } from '../history';
import type { LedgerHistory } from './ledger-history';

/**
 * L3: a run that was completed and purged is not made again. A clock that is wrong may still say that its period has not
 * ended, and an operator who deletes a row may delete what was known of the purge.
 */
export function checkPurged(_: History, { purged, changes, ...ledger }: LedgerHistory): string[] {
  const isDeleted = changes.some((change) => change.after === undefined && !purged.includes(change));
  if (isDeleted || ledger.clockSets.length > 0 || !ledger.wallClocksAreRight) return [];
  return purged.flatMap(({ key, order }) =>
    changes
      .filter((change) => change.key === key && change.order > order)
      .map(({ by, atMs }) => `L3: ${key} was purged, and made again by host ${by?.host} at ${atMs}`),
  );
}
