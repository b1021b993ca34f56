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
      (extend) =>
        extend.answer?.value === false &&
        extend.answer.told.order < work.order &&
        !lease.mayHaveMissed(extend),
    );
    if (refused !== undefined) return [`P2: ${what}, although an extension had been refused`];
    const endMs = lastTrustedMs(history, lease, work.how);
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
 * The end of the lease by the database's clock; for a host whose clock is slow, as much later as that explains. A
 * suspension stops timers. Whoever looks sees it by the wall clock, unless that was set back meanwhile.
 */
export function lastTrustedMs(
  { rates, pauses, wallJumps }: History,
  lease: LeaseHistory,
  how: Work['how'],
): number {
  const host = lease.host ?? 0;
  const rate = Math.min(1, rates[host] ?? 1);
  const endMs = lease.possibleEndMs();
  const suspendedMs = pauses
    .filter((pause) => pause.isSuspended && pause.host === host && pause.untilMs >= lease.firstSentAtMs)
    .reduce((sum, { fromMs, untilMs }) => sum + untilMs - fromMs, 0);
  const setBackMs = wallJumps
    .filter((jump) => jump.host === host && jump.byMs < 0 && jump.atMs >= lease.firstSentAtMs)
    .reduce((sum, { byMs }) => sum - byMs, 0);
  const unseenMs = how === 'look' ? Math.min(suspendedMs, setBackMs) : suspendedMs;
  return endMs + (endMs - lease.firstSentAtMs) * (1 / rate - 1) + unseenMs + TIMERS_ARE_LATE_BY_MS;
}
