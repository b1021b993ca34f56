import type { Clock } from 'cronlatch/provider';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import type { ActChange, ActQuery, ActStore, NewAct, StoredAct } from '#cronlatch/ledger/act-store';

type Row = StoredAct & { readonly openKey: string | undefined };

const MOST = 1000;

/** Acts that only this process sees, for tests of guards on one clock. */
export class InMemoryActs implements ActStore {
  readonly #rows = new Map<string, Row>();

  constructor(private readonly now: () => Date) {}

  add({ dueInMs = 0, expiresInMs = 0, leaseMs, ...act }: NewAct): Promise<boolean> {
    for (const row of this.#rows.values())
      if (act.openKey !== undefined && row.openKey === act.openKey) {
        if (row.state !== 'open' || row.expiresAt > this.now()) return Promise.resolve(false);
        this.#rows.set(row.id, { ...row, openKey: undefined });
      }
    if (this.#rows.has(act.id)) return Promise.resolve(false);
    const unset = { periodKey: undefined, lock: undefined, job: undefined, detail: undefined };
    const times = { at: this.now(), dueAt: this.#after(dueInMs), expiresAt: this.#after(expiresInMs) };
    const leaseUntil = leaseMs === undefined ? undefined : this.#after(leaseMs);
    const endedAt = act.state === 'done' ? this.now() : undefined;
    const rest = { leaseUntil, endedAt, outcome: undefined, takenBy: act.takenBy, tries: 0 };
    const { scope = '', openKey } = act;
    return this.#write({ ...unset, ...act, ...times, ...rest, scope, openKey });
  }

  pending(verb: string) {
    const now = this.now();
    const waiting = [...this.#rows.values()]
      .filter((row) => row.verb === verb && row.openKey)
      .filter(({ state, expiresAt }) => state === 'taken' || expiresAt > now)
      .sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
    return Promise.resolve({ now, acts: waiting.slice(0, MOST).map(withoutKey) });
  }

  list({ verb, job, lock, scope, periodKey, since, limit }: ActQuery): Promise<readonly StoredAct[]> {
    const isOf = (row: Row): boolean =>
      (job === undefined && lock === undefined) ||
      (job !== undefined && row.job === job) ||
      (lock !== undefined && row.lock === lock);
    const others = Object.entries({ verb, scope, periodKey }).filter(([, value]) => value !== undefined);
    const found = [...this.#rows.values()]
      .reverse()
      .sort((a, b) => b.at.getTime() - a.at.getTime())
      .filter((row) => isOf(row) && (since === undefined || row.at >= since))
      .slice(0, MOST)
      .filter((row) => others.every(([name, value]) => row[name as 'verb'] === value));
    return Promise.resolve(found.slice(0, limit).map(withoutKey));
  }

  take(id: string, { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number }) {
    const [row, now] = [this.#rows.get(id), this.now()];
    if (row === undefined) return Promise.resolve(false);
    const isDue = row.state === 'open' && row.dueAt <= now && row.expiresAt > now;
    if (!isDue && !(row.state === 'taken' && row.leaseUntil && row.leaseUntil <= now))
      return Promise.resolve(false);
    const taken = { state: 'taken', takenBy: owner, tries: row.tries + 1 } as const;
    return this.#write({ ...row, ...taken, leaseUntil: this.#after(leaseMs) });
  }

  change(id: string, owner: string, { state, afterMs = 0, outcome }: ActChange): Promise<boolean> {
    const row = this.#rows.get(id);
    if (row?.state !== 'taken' || row.takenBy !== owner) return Promise.resolve(false);
    const after = this.#after(afterMs);
    if (state === 'taken') return this.#write({ ...row, outcome, leaseUntil: after });
    const given = { ...row, state, outcome, leaseUntil: undefined };
    if (state === 'open') return this.#write({ ...given, dueAt: after });
    return this.#write({ ...given, endedAt: this.now(), openKey: undefined });
  }

  purge(olderThanMs: number): Promise<void> {
    const before = this.#after(-olderThanMs);
    for (const { id, state, openKey, endedAt, leaseUntil, expiresAt } of this.#rows.values()) {
      const isLost = openKey === undefined && leaseUntil !== undefined && leaseUntil < before;
      const isExpired = state === 'open' && expiresAt < before;
      if (endedAt === undefined ? isLost || isExpired : endedAt < before) this.#rows.delete(id);
    }
    return Promise.resolve();
  }

  #after(milliseconds: number): Date {
    return new Date(this.now().getTime() + milliseconds);
  }

  #write(row: Row): Promise<boolean> {
    this.#rows.set(row.id, row);
    return Promise.resolve(true);
  }
}

function withoutKey({ openKey: _key, ...act }: Row): StoredAct {
  return act;
}

/** Runs, acts and notices on one clock. */
export class RunsAndActs extends InMemoryRunStore {
  readonly acts: InMemoryActs;
  readonly notices: InMemoryActs;

  constructor({ clock }: { readonly clock: Clock }) {
    super({ clock });
    const now = (): Date => new Date(clock.wallMs());
    this.acts = new InMemoryActs(now);
    this.notices = new InMemoryActs(now);
  }
}
