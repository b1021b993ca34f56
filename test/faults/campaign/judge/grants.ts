import type { DatedEntry } from '../worker/journal';
import type { Evidence } from './evidence';

type Entry<K extends DatedEntry['k']> = Extract<DatedEntry, { k: K }>;

/** A lease with the times that its holder knew. */
export interface Grant {
  readonly name: string;
  readonly token: number;
  readonly worker: number;
  readonly sentMs: number;
  readonly answeredMs: number;
  /** By the database's clock, from which the token is made. */
  readonly grantedMs: number;
  readonly atMostMs: number;
  readonly atLeastMs: number;
  readonly extensions: readonly Entry<'extended'>[];
  readonly refusals: readonly Entry<'refused extension'>[];
  readonly release: Entry<'release'> | undefined;
  readonly released: Entry<'released'> | undefined;
}

/** By name, in the order of their tokens. */
export function grantsIn({ journal, wallAheadMs }: Evidence): Map<string, Grant[]> {
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
    return {
      ...{ name, token, worker, atMostMs, atLeastMs },
      sentMs: requests.get(`${worker} ${answer.id}`) ?? NaN,
      answeredMs: atMs,
      grantedMs: token / 1000 - wallAheadMs,
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

/**
 * The time until which the lease was certainly held, by what was known at `atMs`: its end by the database's
 * clock, or its release.
 */
export function certainEndMs(grant: Grant, atMs = Infinity): number {
  const known = grant.extensions.filter((extension) => extension.atMs <= atMs);
  const endMs = Math.max(
    grant.grantedMs + grant.atMostMs,
    ...known.map(({ sentMs, atMostMs }) => sentMs + atMostMs),
  );
  return Math.min(endMs, grant.release?.atMs ?? Infinity);
}

/** Whether the operator deleted its row in this time. */
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
