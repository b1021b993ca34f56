import type { History } from '../history';
import type { LedgerHistory } from './ledger-history';

/**
 * L3: a completed and purged run is not created again. Two exceptions: by a wrong clock its period may not
 * have ended, and an operator who deletes a row may delete the knowledge of the purge.
 */
export function checkPurged(_: History, { purged, changes, ...ledger }: LedgerHistory): string[] {
  const isDeleted = changes.some((change) => change.after === undefined && !purged.includes(change));
  if (isDeleted || ledger.clockSets.length > 0 || !ledger.wallClocksAreRight) return [];
  return purged.flatMap(({ key, order }) =>
    changes
      .filter((change) => change.key === key && change.order > order)
      .map(({ by, atMs }) => `L3: ${key} was purged, and created again by host ${by?.host} at ${atMs}`),
  );
}
