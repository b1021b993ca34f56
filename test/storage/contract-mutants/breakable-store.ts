import type {
  Clock,
  ExtensionRequest,
  Grant,
  LockRecord,
  LockRequest,
  LockRecordPage,
  NamedLockRecord,
  StorageAccessor,
} from 'cronlatch/provider';

interface Row {
  lockedBy: string;
  lockedAtMs: number;
  lockUntilMs: number;
  fencingToken: number;
}

/** A store in memory in which each decision is a member that a mutant can replace. */
export class BreakableStore implements StorageAccessor {
  constructor(
    private readonly clock: Clock,
    public rows: Map<string, Row>,
    /** The waiter of each lock. A release wakes it. */
    private readonly waiters = new Map<string, () => void>(),
    /** What plain reads see, once they are stale: the rows before the last write. */
    private readonly replica: { rows?: Map<string, Row> } = {},
  ) {}

  makeReadsStale(): void {
    this.replica.rows = this.copyOfRows();
  }

  beforeWrite(): void {
    if (this.replica.rows !== undefined) this.makeReadsStale();
  }

  write<T>(statement: () => T): Promise<T> {
    this.beforeWrite();
    return Promise.resolve(statement());
  }

  nowMs = (): number => this.clock.monotonicMs();
  key = (name: string): string => name;
  isFree = (row: Row): boolean => row.lockUntilMs <= this.nowMs();
  isHeldBy = (row: Row, owner: string): boolean => row.lockedBy === owner && row.lockUntilMs > this.nowMs();
  /** For the row that is taken over, or for a new row. */
  nextToken = (row: Row | undefined): number => Math.max((row?.fencingToken ?? 0) + 1, this.nowMs() * 1000);
  grantedUntilMs = ({ lockAtMostForMs }: LockRequest): number => this.nowMs() + lockAtMostForMs;
  extendedUntilMs = ({ lockedAtMs }: Row, { lockAtMostForMs, lockAtLeastForMs }: LockRequest): number =>
    Math.max(this.nowMs() + lockAtMostForMs, lockedAtMs + lockAtLeastForMs);
  releasedUntilMs = ({ lockedAtMs }: Row, { lockAtLeastForMs }: LockRequest): number =>
    Math.max(this.nowMs(), lockedAtMs + lockAtLeastForMs);
  extendedBy = ({ nextOwner }: ExtensionRequest): string => nextOwner;
  releasedBy = (owner: string): string => `${owner}/released`;

  insert = (request: LockRequest): Grant | undefined =>
    this.rows.has(this.key(request.name)) ? undefined : this.grant(request);

  takeOver = (request: LockRequest): Grant | undefined => {
    const row = this.rows.get(this.key(request.name));
    return row === undefined || !this.isFree(row) ? undefined : this.grant(request);
  };

  renew = (request: ExtensionRequest): boolean => {
    const row = this.rows.get(this.key(request.name));
    if (row === undefined || !this.isHeldBy(row, request.owner)) return false;
    row.lockUntilMs = this.extendedUntilMs(row, request);
    row.lockedBy = this.extendedBy(request);
    return true;
  };

  release = (request: LockRequest): boolean => {
    const row = this.rows.get(this.key(request.name));
    if (row === undefined || !this.isHeldBy(row, request.owner)) return false;
    row.lockUntilMs = this.releasedUntilMs(row, request);
    row.lockedBy = this.releasedBy(row.lockedBy);
    return true;
  };

  read = (name: string, rows = this.rows): LockRecord | undefined => {
    const row = rows.get(this.key(name));
    if (row === undefined) return undefined;
    const { lockedBy, lockUntilMs, fencingToken } = row;
    return { lockedBy, held: !this.isFree(row), lockUntil: new Date(lockUntilMs), fencingToken };
  };

  insertRecord: StorageAccessor['insertRecord'] = (request) => this.write(() => this.insert(request));
  updateRecord: StorageAccessor['updateRecord'] = (request) => this.write(() => this.takeOver(request));
  extend = (request: ExtensionRequest): Promise<boolean> => this.write(() => this.renew(request));
  unlock = (request: LockRequest): Promise<boolean> =>
    this.write(() => {
      const isReleased = this.release(request);
      this.waiters.get(request.name)?.();
      return isReleased;
    });
  list = ({ after = '', limit, held: onlyHeld }: LockRecordPage): Promise<NamedLockRecord[]> => {
    const names = [...this.rows.keys()].filter((name) => name > after).sort();
    const records = names.map((name) => ({ name, ...this.read(name)! }));
    return Promise.resolve(records.filter(({ held }) => held || !onlyHeld).slice(0, limit));
  };
  released = (name: string, signal: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      this.waiters.set(name, resolve);
      signal.addEventListener('abort', () => resolve());
    });
  find: StorageAccessor['find'] = (name, { purpose }) =>
    Promise.resolve(purpose === 'inspect' ? this.plainRead(name) : this.read(name));
  plainRead = (name: string): LockRecord | undefined => this.read(name, this.replica.rows);

  grant = (request: LockRequest): Grant => {
    const key = this.key(request.name);
    const fencingToken = this.nextToken(this.rows.get(key));
    this.rows.set(key, {
      lockedBy: request.owner,
      lockedAtMs: this.nowMs(),
      lockUntilMs: this.grantedUntilMs(request),
      fencingToken,
    });
    return { fencingToken };
  };

  copyOfRows(): Map<string, Row> {
    return new Map([...this.rows].map(([name, row]) => [name, { ...row }]));
  }
}

/** A mistake of a store. */
export type BrokenStore = (store: BreakableStore) => Partial<BreakableStore>;
