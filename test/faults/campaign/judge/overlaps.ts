import type { Testimony } from '../witness/testimony';
import { SLACK_MS, type Evidence } from './evidence';
import { certainEndMs, isDeletedBetween, type Grant } from './grants';

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

/** Longer than a handler takes from its last check of the lease until it leaves. */
const LATE_MS = 100;

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
  if (isDeletedBetween(evidence, name, lease.grantedMs - SLACK_MS, next.grantedMs + SLACK_MS))
    return 'lock row deleted';
  if (next.grantedMs < certainEndMs(lease, next.grantedMs) - SLACK_MS) return undefined;
  if (stale.ignoresItsSignal) return 'ignores its signal';
  const isThen = (fromMs: number, untilMs: number): boolean =>
    fromMs <= second.atMs && untilMs >= lease.grantedMs;
  const struck = evidence.injections.find(
    ({ worker, kind, fromMs, untilMs }) =>
      worker === stale.worker && HOLDS_UP.test(kind) && isThen(fromMs, untilMs),
  );
  if (struck !== undefined) return struck.kind;
  const starved = evidence.journal.some(
    (entry) =>
      entry.k === 'stalled' &&
      entry.worker === stale.worker &&
      entry.atMs - entry.fromMs > LATE_MS &&
      isThen(entry.fromMs, entry.atMs),
  );
  return starved ? 'not run by the machine' : undefined;
}

const HOLDS_UP = /^SIGSTOP|stalled/;
