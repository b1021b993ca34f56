import { isDamagedBetween } from '../grants';
import type { History } from '../history';
import { leasesOf, type LeaseHistory } from '../lease-history';
import type { LedgerHistory } from './ledger-history';

/** L2: no holder counts as crashed while its lease is certainly live, and no older grant takes over. */
export function checkTakeovers(history: History, ledger: LedgerHistory): string[] {
  if (ledger.locksAreNone || ledger.clockSets.length > 0) return [];
  const leases = leasesByToken(history);
  return ledger.changes.flatMap(({ key, job, before, after, atMs, order }) => {
    if (before?.state !== 'running' || after === undefined) return [];
    const isRepeated = after.state === 'running';
    const isTakeover = isRepeated || after.state === 'interrupted' || after.reason === 'lease-ended';
    if (!isTakeover) return [];
    const what = `${key} was taken over at ${atMs}`;
    const { lockName = '' } = ledger.jobs.get(job) ?? {};
    const lease = leases.get(`${lockName}#${before.fencingToken}`);
    const isLive =
      lease?.grant !== undefined &&
      atMs < lease.certainEndMs(order) &&
      !isDamagedBetween(history, lockName, lease.grant.order, order);
    if (isLive)
      return [`L2: ${what}, although the lease of its holder was live until ${lease.certainEndMs(order)}`];
    if (!isRepeated) return [];
    const hasEnded = before.leaseUntil === undefined || before.leaseUntil <= after.updatedAt;
    if (hasEnded) return [];
    if (before.lockId !== after.lockId)
      return [`L2: ${what} under another lock, before its lease had expired`];
    const isNewer = (after.fencingToken ?? NaN) > (before.fencingToken ?? NaN);
    return isNewer ? [] : [`L2: ${what} by a grant that is not newer`];
  });
}

function leasesByToken(history: History): ReadonlyMap<string, LeaseHistory> {
  return new Map(leasesOf(history).map((lease) => [`${lease.name}#${lease.grant?.token}`, lease]));
}
