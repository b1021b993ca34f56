import type { Damage, History } from './history';
import type { KnownGrant, LeaseHistory } from './lease-history';

export interface GrantedLease {
  readonly lease: LeaseHistory;
  readonly grant: KnownGrant;
}

/** The known grants, in the order of their commits. */
export function grantsByName(leases: readonly LeaseHistory[]): Map<string, GrantedLease[]> {
  const known = leases.flatMap((lease) => (lease.grant === undefined ? [] : [{ lease, grant: lease.grant }]));
  known.sort((a, b) => a.grant.order - b.grant.order);
  const byName = new Map<string, GrantedLease[]>();
  for (const grant of known) byName.set(grant.lease.name, [...(byName.get(grant.lease.name) ?? []), grant]);
  return byName;
}

/** Whether anything except a holder changed the record. */
export function isDamagedBetween(
  { damages }: History,
  name: string,
  from: number,
  to: number,
  kinds: readonly Damage['kind'][] = ['deleted', 'rolled back'],
): boolean {
  return damages.some(
    (damage) =>
      damage.name === name && damage.order > from && damage.order < to && kinds.includes(damage.kind),
  );
}
