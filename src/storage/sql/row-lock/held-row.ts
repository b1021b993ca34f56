import {
  LockStorageError,
  type Clock,
  type LockRecord,
  type LockRequest,
  type StatementOptions,
} from '../../../core';
import type { Moment } from '../../../core/clock';
import type { Lease, LeaseGuard } from '../../../core/lease/lease';
import type { LeaseAccessor } from '../../../core/lease/storage-accessor';
import type { BorrowedConnection } from '../connections/connections';
import type { ServerSession } from '../connections/server-session';
import { microseconds, type Limit } from '../connections/sql-executor';
import { recordIn } from '../lock/sql-storage-accessor';
import type { VerifiedTables } from '../schema/verified-tables';
import { Heartbeat, IDLE_MS } from './heartbeat';
import { releasedOwner, type RowLockStatements } from './row-lock-statements';

/** A row that a transaction of ours has locked. */
export interface LockedRow {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
  /** By the database's clock, in microseconds since 1970. */
  readonly lockedAtUs: number;
  readonly lockAtLeastForMs: number;
  /** When the statement that locked it was sent, by the process's clock. */
  readonly sentAt: Moment;
}

interface HeldRowOptions {
  readonly borrowed: BorrowedConnection<ServerSession>;
  readonly statements: RowLockStatements;
  readonly tables: VerifiedTables<RowLockStatements>;
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  readonly onEnded: () => void;
}

/** The open transaction of one lock. It ends by COMMIT, or with its connection. */
export class HeldRow implements LeaseAccessor, LeaseGuard {
  readonly keepsTimeLimits = true;
  readonly #heartbeat: Heartbeat;
  #lease: Lease | undefined;
  #isLost = false;
  /** Whether the release was committed. Rejects if that is unknown. */
  #ending: Promise<boolean> | undefined;
  #endedAtMs = 0;

  constructor(
    private readonly row: LockedRow,
    private readonly options: HeldRowOptions,
  ) {
    const { connection } = options.borrowed;
    this.#heartbeat = new Heartbeat(
      options.clock,
      row.sentAt,
      (endsAtMs) => connection.ping(endsAtMs),
      (reason) => this.abandon(reason),
    );
    connection.onEnd = () => this.abandon('its connection to the database has ended');
  }

  /** The lease that depends on this row. */
  set lease(lease: Lease) {
    this.#lease = lease;
  }

  /** Resolves when the connection is given back. */
  async ended(): Promise<void> {
    await this.#ending?.catch(() => false);
  }

  /** Destroys the connection, so that the server ends the transaction. */
  abandon(reason: string): void {
    if (this.#ending !== undefined) return;
    this.#ending = Promise.resolve(false);
    this.#giveBack(false);
    this.#lease?.lose(reason);
  }

  expiryReason(): string | undefined {
    return this.#heartbeat.expiryReason();
  }

  /** Frees the lock at its deadline. COMMIT rather than ROLLBACK, so that `lockAtLeastFor` and the token stay. */
  onLost(): void {
    this.#isLost = true;
    const reason = this.expiryReason();
    if (reason !== undefined) this.abandon(reason);
    this.#ending ??= this.#release(this.row.owner, this.options.statementTimeoutMs);
    this.#ending.catch(() => {}); // A transaction without an answer ends with its connection.
  }

  async extend(): Promise<boolean> {
    return await this.#heartbeat.confirm();
  }

  async unlock({ owner }: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    this.#ending ??= this.#release(owner, timeoutMs);
    return (await this.#ending) && !this.#isLost;
  }

  /** Settles a COMMIT that got no answer. While the server may still execute it, the row is locked. */
  async find(name: string, { timeoutMs }: StatementOptions): Promise<LockRecord | undefined> {
    const { tables, statements, clock } = this.options;
    const limit: Limit = { timeoutMs, priority: 'lease' };
    const read = async (statement: 'settle' | 'inspect'): Promise<LockRecord | undefined> => {
      const { rows } = await tables.execute(statements[statement].bind({ name }), limit, `lock '${name}'`);
      const [record] = rows.map((row) => recordIn(row, statements.records));
      if (record === undefined || (record.fencingToken ?? 0) >= this.row.token) return record;
      // The COMMIT did not take effect, and the lock ended with its connection.
      return { ...record, lockedBy: this.row.owner, held: false };
    };
    try {
      return await read('settle');
    } catch (error) {
      const isLocked = error instanceof LockStorageError && error.outcome === 'contention';
      const isOurEnded = clock.monotonicMs() > this.#endedAtMs + 2 * IDLE_MS;
      if (!isLocked || !isOurEnded) throw error;
      return await read('inspect'); // The next holder has the row.
    }
  }

  async #release(owner: string, timeoutMs: number): Promise<boolean> {
    const { borrowed, statements, tables, clock } = this.options;
    const { name, token, lockedAtUs, lockAtLeastForMs } = this.row;
    this.#heartbeat.stop();
    const endsAtMs = clock.monotonicMs() + timeoutMs;
    const keptUntil = lockedAtUs + microseconds(lockAtLeastForMs);
    const release = { name, token, owner: releasedOwner(owner), lockedAt: lockedAtUs, keptUntil };
    try {
      const written = await borrowed.connection.sendInside(statements.release.bind(release), endsAtMs);
      if (Number(written.affectedRows) !== 1) {
        this.#giveBack(await borrowed.connection.rollBack(endsAtMs));
        return false;
      }
    } catch {
      this.#giveBack(false); // Without a COMMIT, the server rolls back.
      return false;
    }
    try {
      await borrowed.connection.commit(endsAtMs);
      this.#giveBack(true);
      return true;
    } catch (error) {
      this.#giveBack(false);
      const failure = tables.failureOf(error, `lock '${name}'`);
      if (failure instanceof LockStorageError && failure.outcome !== 'unknown') return false;
      throw failure;
    }
  }

  #giveBack(isUsable: boolean): void {
    const { borrowed, clock, onEnded } = this.options;
    this.#heartbeat.stop();
    this.#endedAtMs = clock.monotonicMs();
    borrowed.connection.onEnd = () => {};
    borrowed.giveBack(isUsable);
    onEnded();
  }
}
