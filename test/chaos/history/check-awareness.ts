import type { History, Work } from './history';
import type { LeaseHistory } from './lease-history';

/** Rounding to whole milliseconds of the host's clock, and then of the simulation's, by the slowest clock. */
const TIMERS_ARE_LATE_BY_MS = 4;

/** P2, P7: no host works without a grant, or past the end of the lease without a notice. */
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
        extend.answer.received.order < work.order &&
        !lease.mayHaveMissed(extend),
    );
    if (refused !== undefined) return [`P2: ${what}, although an extension had been refused`];
    const endMs = lastTrustedMs(history, lease, work.how);
    const wasAsleep = work.how === 'glance' && hasJustResumed(history, work);
    return atMs <= endMs || wasAsleep ? [] : [`P2: ${what}, although its lease had ended at ${endMs}`];
  });
}

/** Whether its timers had no chance to run, because they become due together with its work. */
function hasJustResumed({ pauses }: History, { attempt, atMs }: Work): boolean {
  return pauses.some(
    ({ host, untilMs }) =>
      host === attempt.host && atMs >= untilMs && atMs - untilMs <= TIMERS_ARE_LATE_BY_MS,
  );
}

/**
 * The end of the lease by the database's clock; for a host with a slow clock, later by its delay. A
 * suspension stops timers. A check of the lock detects it by the wall clock, unless that was set back
 * meanwhile.
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
