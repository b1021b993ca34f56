import { LEADER_KILLED, LEADER_PAUSED } from '../faults/to-leader';
import type { Keeper } from '../options';
import { SLACK_MS, type Evidence } from './evidence';
import type { Grant } from './grants';
import { STARVED, wasStarved } from './starved';

/** These end a connection, keep its traffic from the server for seconds, or look like it to its holder. */
const ENDS_CONNECTIONS =
  /^(SIGKILL|SIGSTOP|event loop stalled|wall clock set|connections cut|reply swallowed|statement delivered late|partition|slow network|session ended|server killed|leader)/;
const FAILS_OVER = new RegExp(`^(${LEADER_KILLED}|${LEADER_PAUSED})`);

/** The faults that can take a lock from its holder before the end of its lease. */
const TAKES: Readonly<Partial<Record<Keeper, RegExp>>> = {
  // An open transaction.
  row: ENDS_CONNECTIONS,
  // A node of a session.
  zookeeper: ENDS_CONNECTIONS,
  // Its replicas get a write after its answer.
  sentinel: FAILS_OVER,
};

/** Before a failover, a write may be this late at the replicas. */
const LAG_MS = 1000;

/** The fault that took the lock of a grant from its holder before this time, if there was one. */
export function lostLease(evidence: Evidence, grant: Grant, atMs: number): string | undefined {
  const { keeper, injections } = evidence;
  const takes = TAKES[keeper];
  if (takes === undefined) return undefined;
  const { worker, countedFromMs, grantedMs, extensions } = grant;
  const writes = extensions.filter((extension) => extension.atMs <= atMs).map((extension) => extension.atMs);
  const writtenMs = Math.max(grantedMs, ...writes);
  const struck = injections.find(
    ({ kind, worker: hit = worker, fromMs, untilMs }) =>
      takes.test(kind) &&
      hit === worker &&
      fromMs <= atMs + SLACK_MS &&
      untilMs >= countedFromMs - SLACK_MS &&
      (keeper !== 'sentinel' || writtenMs >= fromMs - LAG_MS),
  );
  if (struck !== undefined || keeper !== 'zookeeper') return struck?.kind;
  return wasStarved(evidence, worker, countedFromMs, atMs) ? STARVED : undefined;
}
