import { grantsByName, isDamagedBetween } from './grants';
import type { History } from './history';
import type { LeaseHistory } from './lease-history';

/**
 * P3: tokens rise in the order of the grants, also across deletions, but not if a failover lost the last of
 * them.
 */
export function checkTokens(history: History, leases: readonly LeaseHistory[]): string[] {
  const violations: string[] = [];
  for (const grants of grantsByName(leases).values()) {
    for (const [i, { lease, grant }] of grants.entries()) {
      const before = grants[i - 1];
      if (before === undefined || (grant.token ?? NaN) > (before.grant.token ?? NaN)) continue;
      const between = [lease.name, before.grant.order, grant.order] as const;
      if (isDamagedBetween(history, ...between, ['rolled back'])) continue;
      // A real clock is finer: it advances between two grants with a deletion between them.
      if (grant.atMs === before.grant.atMs && isDamagedBetween(history, ...between)) continue;
      violations.push(
        `P3: the token of '${lease.name}' went from ${before.grant.token} to ${grant.token} at ${grant.atMs}`,
      );
    }
  }
  return violations;
}
