import type { History } from './history';
import type { LeaseHistory } from './lease-history';

/** P2: whoever gives a lock back before its lease can have ended is not told that it was lost. */
export function checkReleases(history: History, leases: readonly LeaseHistory[]): string[] {
  const byOwner = new Map(leases.map((lease) => [lease.owner, lease]));
  return history.attempts.flatMap(({ owner = '', host, name, releasedAtMs = Infinity, releasedInTime }) => {
    const lease = byOwner.get(owner);
    const grant = lease?.grant;
    if (releasedInTime !== false || lease === undefined || grant === undefined) return [];
    // Without a statement it was the host's own clock that said so.
    const wasAsked = lease.releases.some(({ invokedAtMs }) => invokedAtMs <= releasedAtMs);
    if (!wasAsked || releasedAtMs >= lease.certainExpiryMs()) return [];
    const isDamaged = history.damages.some(
      (damage) => damage.name === name && damage.order > grant.order && damage.atMs <= releasedAtMs,
    );
    if (isDamaged) return [];
    return [
      `P2: host ${host} was told at ${releasedAtMs} that '${name}' was lost, and had given it back itself`,
    ];
  });
}
