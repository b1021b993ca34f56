import type { History } from './history';
import type { LeaseHistory } from './lease-history';
import { grantsByName, isDamagedBetween } from './grants';

/** P1, P5: no grant while another lease is certainly live, unless its record was deleted or rolled back. */
export function checkExclusion(history: History, leases: readonly LeaseHistory[]): string[] {
  const violations: string[] = [];
  for (const grants of grantsByName(leases).values()) {
    for (const [i, { lease, grant }] of grants.entries()) {
      const next = grants
        .slice(i + 1)
        .find((later) => later.grant.atMs < lease.certainEndMs(later.grant.order));
      if (next === undefined || isDamagedBetween(history, lease.name, grant.order, next.grant.order))
        continue;
      violations.push(
        `P1/P5: '${lease.name}' was granted at ${next.grant.atMs} to host ${next.lease.host}, while host ${lease.host} held it until ${lease.certainEndMs(next.grant.order)}`,
      );
    }
  }
  return violations;
}
