import type { History, Work } from './history';
import type { LeaseHistory } from './lease-history';

/** Whole milliseconds of the host's clock, and then of the simulation's, by the slowest clock. */
const TIMERS_ARE_LATE_BY_MS = 4;

/** P2, P7: nobody works without having been granted the lock, nor past the end of the lease without having been told. */
export function checkAwareness(history: History, leases: readonly LeaseHistory[]): string[] {
  const byOwner = new Map(leases.map((lease) => [lease.owner, lease]));
  return history.works.flatMap((work) => {
    const { attempt, atMs } = work;
    const lease = byOwner.get(attempt.owner ?? '');
    const what = `host ${attempt.host} worked on '${attempt.name}' at ${atMs}`;
    if (lease?.grant === undefined) return [`P7: ${what} without a grant`];
    const refused = lease.extensions.find(
      ({ answer }) => answer?.value === false && answer.told.order < work.order,
    );
    if (refused !== undefined) return [`P2: ${what}, although an extension had been refused`];
    const endMs = lastTrustedMs(history, lease);
    const wasAsleep = work.how === 'glance' && hasJustResumed(history, work);
    return atMs <= endMs || wasAsleep ? [] : [`P2: ${what}, although its lease had ended at ${endMs}`];
  });
}

/** Whether its timers had no time to tell it: they fall due together with its work. */
function hasJustResumed({ pauses }: History, { attempt, atMs }: Work): boolean {
  return pauses.some(
    ({ host, untilMs }) =>
      host === attempt.host && atMs >= untilMs && atMs - untilMs <= TIMERS_ARE_LATE_BY_MS,
  );
}

/**
 * The end of the lease by the database's clock; for a host whose clock is slow, or stood still for less than the wall
 * clock betrays, as much later as that explains.
 */
function lastTrustedMs({ rates, pauses }: History, lease: LeaseHistory): number {
  const host = lease.host ?? 0;
  const rate = Math.min(1, rates[host] ?? 1);
  const endMs = lease.possibleEndMs();
  const suspendedMs = pauses
    .filter((pause) => pause.isSuspended && pause.host === host && pause.untilMs >= lease.firstSentAtMs)
    .reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0);
  return endMs + (endMs - lease.firstSentAtMs) * (1 / rate - 1) + suspendedMs + TIMERS_ARE_LATE_BY_MS;
}
