import type { DatedEntry } from '../worker/journal';
import type { Keeper } from '../options';
import type { Evidence } from './evidence';

type Entry<K extends DatedEntry['k']> = Extract<DatedEntry, { k: K }>;

/** A lease with the times that its holder knew. */
export interface Grant {
  readonly name: string;
  readonly token: number;
  readonly worker: number;
  readonly sentMs: number;
  readonly answeredMs: number;
  /** When the time of the lease began at the earliest: by its holder's clock, if the token does not contain it. */
  readonly countedFromMs: number;
  /** By the database's clock, from which the token is made; otherwise at the latest. */
  readonly grantedMs: number;
  readonly atMostMs: number;
  readonly atLeastMs: number;
  readonly extensions: readonly Entry<'extended'>[];
  readonly refusals: readonly Entry<'refused extension'>[];
  readonly release: Entry<'release'> | undefined;
  readonly released: Entry<'released'> | undefined;
}

/** By name, in the order of their tokens. */
export function grantsIn({ journal, wallAheadMs, keeper }: Evidence): Map<string, Grant[]> {
  const requests = new Map<string, number>();
  const byLease = new Map<string, DatedEntry[]>();
  const granted: Entry<'answer'>[] = [];
  for (const entry of journal) {
    if (entry.k === 'request') requests.set(`${entry.worker} ${entry.id}`, entry.atMs);
    else if (entry.k === 'answer' && entry.verdict === 'granted') granted.push(entry);
    else if ('token' in entry && entry.k !== 'answer') {
      const lease = `${entry.name} ${entry.token}`;
      byLease.set(lease, [...(byLease.get(lease) ?? []), entry]);
    }
  }
  const grants = granted.map((answer): Grant => {
    const { name, worker, atMs, atMostMs, atLeastMs, token = NaN } = answer;
    const of = <K extends DatedEntry['k']>(k: K): Entry<K>[] =>
      (byLease.get(`${name} ${token}`) ?? []).filter(
        (entry): entry is Entry<K> => entry.k === k && entry.worker === worker,
      );
    const sentMs = requests.get(`${worker} ${answer.id}`) ?? NaN;
    const grantedMs = isTime(keeper) ? token / 1000 - wallAheadMs : atMs;
    return {
      ...{ name, token, worker, atMostMs, atLeastMs, sentMs, grantedMs },
      answeredMs: atMs,
      countedFromMs: keeper === 'row' || !isTime(keeper) ? sentMs : grantedMs,
      extensions: of('extended'),
      refusals: of('refused extension'),
      release: of('release')[0],
      released: of('released')[0],
    };
  });
  const byName = new Map<string, Grant[]>();
  for (const grant of grants.sort((a, b) => a.token - b.token)) {
    const sameName = byName.get(grant.name) ?? [];
    sameName.push(grant);
    byName.set(grant.name, sameName);
  }
  return byName;
}

/** Whether tokens are the times of the grants, in microseconds. Otherwise they are the store's own numbers. */
function isTime(keeper: Keeper): boolean {
  return keeper !== 'zookeeper' && keeper !== 'etcd';
}

/**
 * The time until which the lease was certainly held, by what was known at `atMs`: its end by the database's
 * clock, or its release.
 */
export function certainEndMs(grant: Grant, atMs = Infinity): number {
  return Math.min(leaseEndMs(grant, atMs), grant.release?.atMs ?? Infinity);
}

/** The end of the lease by the database's clock, by what was known at `atMs`, as if it had not been released. */
export function leaseEndMs(grant: Grant, atMs: number): number {
  const known = grant.extensions.filter((extension) => extension.atMs <= atMs);
  return Math.max(
    grant.countedFromMs + grant.atMostMs,
    ...known.map(({ sentMs, atMostMs }) => sentMs + atMostMs),
  );
}

/** Whether the operator deleted it in this time. */
export function isDeletedBetween(
  { injections }: Evidence,
  name: string,
  fromMs: number,
  untilMs: number,
): boolean {
  return injections.some(
    (injection) => injection.name === name && injection.untilMs >= fromMs && injection.fromMs <= untilMs,
  );
}

/** A promise that seems broken to the holder of a lease. */
export interface Finding {
  readonly lease: Grant;
  readonly atMs: number;
  readonly complaint: string;
  /** What shows that the promise was kept. */
  readonly excuse?: string | undefined;
}
