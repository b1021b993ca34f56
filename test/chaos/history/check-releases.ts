import type { History } from './history';
import type { LeaseHistory } from './lease-history';

/** P2: a holder that releases a lock before its lease can have expired is not notified that the lock was lost. */
export function checkReleases(history: History, leases: readonly LeaseHistory[]): string[] {
  const byOwner = new Map(leases.map((lease) => [lease.owner, lease]));
  return history.attempts.flatMap(({ owner = '', host, name, releasedAtMs = Infinity, releasedInTime }) => {
    const lease = byOwner.get(owner);
    const grant = lease?.grant;
    if (releasedInTime !== false || lease === undefined || grant === undefined) return [];
    // If no statement was sent, the host's own clock decided.
    const wasAsked = lease.releases.some(({ invokedAtMs }) => invokedAtMs <= releasedAtMs);
    if (!wasAsked || releasedAtMs >= lease.certainExpiryMs()) return [];
    const isDamaged = history.damages.some(
      (damage) => damage.name === name && damage.order > grant.order && damage.atMs <= releasedAtMs,
    );
    if (isDamaged) return [];
    return [
      `P2: host ${host} got the answer at ${releasedAtMs} that '${name}' was lost, although it had released the lock itself`,
    ];
  });
}
