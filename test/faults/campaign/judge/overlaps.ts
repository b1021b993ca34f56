import type { Testimony } from '../witness/testimony';
import { SLACK_MS, type Evidence } from './evidence';
import { isDeletedBetween, leaseEndMs, type Grant } from './grants';
import { lostLease } from './lost-lease';
import { STARVED, wasStarved } from './starved';

type Entered = Extract<Testimony, { event: 'enter' }>;

/** Two workers worked at the same time: the second entered before the first had left. */
export interface Overlap {
  readonly name: string;
  readonly first: Entered;
  readonly second: Entered;
}

/** In the order in which the witness received the messages. */
export function overlapsIn({ testimonies }: Evidence): Overlap[] {
  const inside = new Map<string, Entered[]>();
  const overlaps: Overlap[] = [];
  for (const testimony of testimonies) {
    const { event, worker } = testimony;
    if (event === 'gone') for (const [name, all] of inside) inside.set(name, without(all, worker));
    if (event === 'leave') inside.set(testimony.name, without(inside.get(testimony.name) ?? [], worker));
    if (event !== 'enter') continue;
    const { name } = testimony;
    const others = inside.get(name) ?? [];
    overlaps.push(...others.map((first) => ({ name, first, second: testimony })));
    inside.set(name, [...others, testimony]);
  }
  return overlaps;
}

function without(all: readonly Entered[], worker: number): Entered[] {
  return all.filter((entered) => entered.worker !== worker);
}

/** Why a worker worked after its lease had expired; `undefined` means without a permitted cause. */
export function causeOf(
  { name, first, second }: Overlap,
  evidence: Evidence,
  grants: readonly Grant[],
): string | undefined {
  // A worker that was stopped between its grant and its work enters after its successor.
  const [stale, fresh] = first.token < second.token ? [first, second] : [second, first];
  const lease = grants.find(({ token }) => token === stale.token);
  const next = grants.find(({ token }) => token === fresh.token);
  if (lease === undefined || next === undefined) return undefined;
  if (isDeletedBetween(evidence, name, lease.countedFromMs - SLACK_MS, next.grantedMs + SLACK_MS))
    return 'lock row deleted';
  const { keeper } = evidence;
  // A worker releases a lock only after it has left. So the stale one had not released it before the other grant, and the
  // clocks need not be compared for that: a grant shortly before the release is as wrong as any other.
  const isEarly = next.grantedMs < leaseEndMs(lease, next.grantedMs) - SLACK_MS;
  // What begins after the other grant is not its cause. But the token of a row lock may be older than its lock.
  const takenMs = keeper === 'row' ? second.atMs : next.grantedMs;
  const lost = isEarly || keeper === 'row' ? lostLease(evidence, lease, takenMs) : undefined;
  // ZooKeeper takes a lock only from a holder that had the time to notice it.
  if (lost !== undefined && keeper !== 'zookeeper') return lost;
  if (isEarly && lost === undefined) return undefined;
  if (stale.ignoresItsSignal) return 'ignores its signal';
  const isThen = (fromMs: number, untilMs: number): boolean =>
    fromMs <= second.atMs && untilMs >= lease.countedFromMs;
  const struck = evidence.injections.find(
    ({ worker, kind, fromMs, untilMs }) =>
      worker === stale.worker && HOLDS_UP.test(kind) && isThen(fromMs, untilMs),
  );
  if (struck !== undefined) return struck.kind;
  return wasStarved(evidence, stale.worker, lease.countedFromMs, second.atMs) ? STARVED : undefined;
}

const HOLDS_UP = /^SIGSTOP|stalled/;
