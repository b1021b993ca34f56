import { grantsByName, isDamagedBetween } from './grants';
import type { History, Operation } from './history';
import type { LeaseHistory } from './lease-history';

/**
 * P6, P4: an extension and a release return true while the lease may be live, and false while it may have
 * expired.
 */
export function checkAnswers(history: History, leases: readonly LeaseHistory[]): string[] {
  const grants = grantsByName(leases);
  return leases.flatMap((lease) => {
    const isTakenOver = (from: number, to: number): boolean =>
      (grants.get(lease.name) ?? []).some(
        (other) => other.lease !== lease && other.grant.order > from && other.grant.order < to,
      );
    return [...lease.extensions, ...lease.releases].flatMap((operation) => {
      const { answer, statement } = operation;
      const { grant } = lease;
      if (answer === undefined || grant === undefined || answer.order < grant.order) return [];
      if (lease.mayBeGrantedUnknown) return [];
      if (isDamagedBetween(history, lease.name, grant.order, answer.order, ['rolled back'])) return [];
      const what = `host ${lease.host}'s ${statement} of '${lease.name}' at ${answer.atMs}`;
      const isOver =
        isTakenOver(grant.order, answer.order) ||
        answer.atMs >= lease.possibleEndMs(answer.order) ||
        isReleasedBefore(lease, answer.order);
      if (answer.value === true && isOver)
        return [`P6: ${what} was confirmed, although the lease had expired`];
      const isLive =
        answer.received.atMs < lease.certainEndMs(answer.order) &&
        !lease.releases.some(isSentBefore(operation));
      if (answer.value === true || !isLive || lease.mayHaveMissed(operation)) return [];
      if (isDamagedBetween(history, lease.name, grant.order, answer.order)) return [];
      return [`P2: ${what} was refused, although the lease was live`];
    });
  });
}

function isReleasedBefore({ releases }: LeaseHistory, order: number): boolean {
  return releases.some(({ answer }) => answer?.value === true && answer.order < order);
}

/** Or may run before it. */
function isSentBefore(operation: Operation): (other: Operation) => boolean {
  return (other) => other !== operation && other.order < (operation.answer?.order ?? Infinity);
}
