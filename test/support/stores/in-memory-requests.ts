import type { Clock } from 'cronlatch/provider';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import type { NewRequest, RequestChange, RequestStore, StoredRequest } from '#cronlatch/ledger/request-store';

/** Requests that only this process sees, for tests of guards on one clock. */
export class InMemoryRequests implements RequestStore {
  readonly #rows = new Map<string, StoredRequest>();

  constructor(private readonly now: () => Date) {}

  add(
    { dueInMs, expiresInMs, ...request }: NewRequest,
    { replaces = false }: { readonly replaces?: boolean | undefined } = {},
  ): Promise<boolean> {
    const row = this.#rows.get(request.id);
    const isOver = row && (row.endedAt ?? (row.state === 'open' && row.expiresAt <= this.now()));
    if (row !== undefined && !(replaces && isOver)) return Promise.resolve(false);
    const unset = { takenBy: undefined, leaseUntil: undefined, endedAt: undefined, outcome: undefined };
    const times = { createdAt: this.now(), dueAt: this.#after(dueInMs), expiresAt: this.#after(expiresInMs) };
    this.#rows.set(request.id, { ...request, ...times, ...unset, state: 'open', attempt: 0 });
    return Promise.resolve(true);
  }

  pending() {
    const now = this.now();
    const requests = [...this.#rows.values()]
      .filter(({ state, expiresAt }) => state === 'taken' || (state === 'open' && expiresAt > now))
      .sort((a, b) => a.dueAt.getTime() - b.dueAt.getTime());
    return Promise.resolve({ now, requests: requests.slice(0, 1000) });
  }

  find(id: string): Promise<StoredRequest | undefined> {
    return Promise.resolve(this.#rows.get(id));
  }

  take(id: string, { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number }) {
    const [row, now] = [this.#rows.get(id), this.now()];
    if (row === undefined) return Promise.resolve(false);
    const isDue = row.state === 'open' && row.dueAt <= now && row.expiresAt > now;
    if (!isDue && !(row.state === 'taken' && row.leaseUntil && row.leaseUntil <= now))
      return Promise.resolve(false);
    const { attempt } = row;
    return this.#write({
      ...row,
      state: 'taken',
      takenBy: owner,
      leaseUntil: this.#after(leaseMs),
      attempt: attempt + 1,
    });
  }

  change(id: string, owner: string, { state, afterMs = 0, outcome }: RequestChange): Promise<boolean> {
    const row = this.#rows.get(id);
    if (row?.state !== 'taken' || row.takenBy !== owner) return Promise.resolve(false);
    const after = this.#after(afterMs);
    if (state === 'taken') return this.#write({ ...row, leaseUntil: after });
    const given = { ...row, state, outcome, leaseUntil: undefined };
    return this.#write(state === 'open' ? { ...given, dueAt: after } : { ...given, endedAt: this.now() });
  }

  purge(olderThanMs: number): Promise<void> {
    for (const { id, kind, endedAt } of this.#rows.values())
      if (kind === 'notice' && endedAt && endedAt < this.#after(-olderThanMs)) this.#rows.delete(id);
    return Promise.resolve();
  }

  #after(milliseconds: number): Date {
    return new Date(this.now().getTime() + milliseconds);
  }

  #write(row: StoredRequest): Promise<boolean> {
    this.#rows.set(row.id, row);
    return Promise.resolve(true);
  }
}

/** Runs and requests on one clock. */
export class RunsAndRequests extends InMemoryRunStore {
  readonly requests: InMemoryRequests;

  constructor({ clock }: { readonly clock: Clock }) {
    super({ clock });
    this.requests = new InMemoryRequests(() => new Date(clock.wallMs()));
  }
}
