import {
  StorageBasedLockProvider,
  systemClock,
  type Clock,
  type ExtensionRequest,
  type Grant,
  type LockProvider,
  type LockRecord,
  type LockRequest,
  type LockRecordPage,
  type NamedLockRecord,
  type StorageAccessor,
  type StorageBasedLockProviderOptions,
} from '../../core';
import { RELEASED_MARK } from '../../core/lease/owner';

/** Locks that only this process sees, for tests and for tools with one process. The library never falls back to it. */
export class InMemoryLockProvider extends StorageBasedLockProvider implements LockProvider {
  readonly #records: InMemoryStorageAccessor;

  constructor(options: StorageBasedLockProviderOptions = {}) {
    const records = new InMemoryStorageAccessor(options.clock ?? systemClock);
    super(records, options);
    this.#records = records;
  }

  /** Resolves when the lock is free, or the signal aborts. */
  released(name: string, signal: AbortSignal): Promise<void> {
    return this.#records.released(name, signal);
  }

  /** Deletes the record of a lock even if it is held, as an operator's DELETE would. `false`: there is no record. */
  deleteRecord(name: string): boolean {
    return this.#records.delete(name);
  }
}

interface StoredLock {
  lockedBy: string;
  lockedAtMs: number;
  lockUntilMs: number;
  fencingToken: number;
}

/** With more rows than this, rows of free locks are deleted. */
const MANY_ROWS = 10_000;

/** The lock table as a map. Changes of the host's clock have no effect. */
export class InMemoryStorageAccessor implements StorageAccessor {
  readonly #rows = new Map<string, StoredLock>();
  /** Called after each change of the row of that name. */
  readonly #watches = new Map<string, Set<() => void>>();
  readonly #epochMs: number;
  /** Grows with the number of held locks, so that sweeps stay rare even if they delete nothing. */
  #sweepAt = MANY_ROWS;

  constructor(private readonly clock: Clock) {
    this.#epochMs = clock.wallMs() - clock.monotonicMs();
  }

  insertRecord(request: LockRequest): Promise<Grant | undefined> {
    if (this.#rows.has(request.name)) return Promise.resolve(undefined);
    const nowMs = this.#nowMs();
    if (this.#rows.size >= this.#sweepAt) this.#sweep(nowMs);
    return this.#grant(request, nowMs, tokenAt(nowMs));
  }

  updateRecord(request: LockRequest): Promise<Grant | 'held' | 'missing'> {
    const row = this.#rows.get(request.name);
    const nowMs = this.#nowMs();
    if (row === undefined) return Promise.resolve('missing');
    if (row.lockUntilMs > nowMs) return Promise.resolve('held');
    return this.#grant(request, nowMs, Math.max(row.fencingToken + 1, tokenAt(nowMs)));
  }

  extend(request: ExtensionRequest): Promise<boolean> {
    const row = this.#heldBy(request);
    if (row === undefined) return Promise.resolve(false);
    const { lockAtMostForMs, lockAtLeastForMs, nextOwner } = request;
    row.lockUntilMs = Math.max(this.#nowMs() + lockAtMostForMs, row.lockedAtMs + lockAtLeastForMs);
    row.lockedBy = nextOwner;
    return Promise.resolve(true);
  }

  unlock(request: LockRequest): Promise<boolean> {
    const row = this.#heldBy(request);
    if (row === undefined) return Promise.resolve(false);
    row.lockUntilMs = Math.max(this.#nowMs(), row.lockedAtMs + request.lockAtLeastForMs);
    row.lockedBy += RELEASED_MARK;
    this.#notify(request.name);
    return Promise.resolve(true);
  }

  find(name: string): Promise<LockRecord | undefined> {
    return Promise.resolve(this.#recordOf(name));
  }

  deleteRecord(request: LockRequest): Promise<boolean> {
    const row = this.#heldBy(request);
    if (row === undefined) return Promise.resolve(false);
    const nowMs = this.#nowMs();
    const isPast = row.lockedAtMs + request.lockAtLeastForMs <= nowMs && row.fencingToken < tokenAt(nowMs);
    return Promise.resolve(isPast && this.delete(request.name));
  }

  list({ after = '', limit, held }: LockRecordPage): Promise<readonly NamedLockRecord[]> {
    const names = [...this.#rows.keys()].filter((name) => name > after).sort();
    const records = names.flatMap((name) => this.#recordOf(name) ?? []);
    return Promise.resolve(records.filter((record) => record.held || !held).slice(0, limit));
  }

  deleteExpired(olderThanMs: number): Promise<number> {
    const untilMs = this.#nowMs() - olderThanMs;
    const expired = [...this.#rows].filter(([, { lockUntilMs }]) => lockUntilMs <= untilMs);
    for (const [name] of expired) this.#rows.delete(name);
    return Promise.resolve(expired.length);
  }

  /** Does what an operator's DELETE would, for tests. */
  delete(name: string): boolean {
    const isDeleted = this.#rows.delete(name);
    this.#notify(name);
    return isDeleted;
  }

  released(name: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const watches = this.#watches.get(name) ?? new Set();
      this.#watches.set(name, watches);
      let cancel = (): void => {};
      const check = (): void => {
        cancel();
        const leftMs = (this.#rows.get(name)?.lockUntilMs ?? 0) - this.#nowMs();
        if (leftMs > 0 && !signal.aborted) {
          cancel = this.clock.schedule(Math.ceil(leftMs), check, { keepAlive: false });
          return;
        }
        signal.removeEventListener('abort', check);
        if (watches.delete(check) && watches.size === 0) this.#watches.delete(name);
        resolve();
      };
      watches.add(check);
      signal.addEventListener('abort', check);
      check();
    });
  }

  #grant({ name, owner, lockAtMostForMs }: LockRequest, nowMs: number, fencingToken: number): Promise<Grant> {
    const lockUntilMs = nowMs + lockAtMostForMs;
    this.#rows.set(name, { lockedBy: owner, lockedAtMs: nowMs, lockUntilMs, fencingToken });
    return Promise.resolve({ fencingToken });
  }

  #notify(name: string): void {
    for (const check of [...(this.#watches.get(name) ?? [])]) check();
  }

  /** A new row gets a token from the current time. So a row stays until its own token is lower than that. */
  #sweep(nowMs: number): void {
    for (const [name, { lockUntilMs, fencingToken }] of this.#rows) {
      if (lockUntilMs <= nowMs && fencingToken < tokenAt(nowMs)) this.#rows.delete(name);
    }
    this.#sweepAt = Math.max(MANY_ROWS, 2 * this.#rows.size);
  }

  #recordOf(name: string): NamedLockRecord | undefined {
    const row = this.#rows.get(name);
    if (row === undefined) return undefined;
    const { lockedBy, lockUntilMs, lockedAtMs, fencingToken } = row;
    const [lockUntil, lockedAt] = [new Date(lockUntilMs), new Date(lockedAtMs)];
    return { name, lockedBy, lockUntil, lockedAt, held: lockUntilMs > this.#nowMs(), fencingToken };
  }

  #nowMs(): number {
    return this.#epochMs + this.clock.monotonicMs();
  }

  #heldBy({ name, owner }: LockRequest): StoredLock | undefined {
    const row = this.#rows.get(name);
    return row?.lockedBy === owner && row.lockUntilMs > this.#nowMs() ? row : undefined;
  }
}

function tokenAt(ms: number): number {
  return Math.round(ms * 1000);
}
