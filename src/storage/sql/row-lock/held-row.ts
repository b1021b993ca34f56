import {
  LockStorageError,
  systemClock,
  type LockRecord,
  type LockRequest,
  type NamedLockRecord,
  type StatementOptions,
} from '../../../core';
import type { Deadline, Moment } from '../../../core/clock';
import type { Lease, LeaseGuard } from '../../../core/lease/lease';
import { RELEASED_MARK } from '../../../core/lease/owner';
import type { LeaseAccessor } from '../../../core/lease/storage-accessor';
import { TrustedSession } from '../../../core/lease/trusted-session';
import type { BorrowedConnection } from '../connections/connections';
import type { ServerSession } from '../connections/server-session';
import { microseconds, type Limit } from '../statements/statement';
import { recordIn } from '../lock/sql-storage-accessor';
import type { VerifiedTables } from '../tables/verified-tables';
import type { RowLockStatements } from './row-lock-statements';

const INTERVAL_MS = 1000;

/** After this time without a statement, the server ends the session, and the holder no longer trusts it. */
export const IDLE_MS = 5000;

export interface LockedRow {
  /** The token is that of the new holder. */
  readonly record: NamedLockRecord;
  /** By the database's clock, in microseconds since 1970. */
  readonly lockedAtUs: number;
  /** When the statement was sent: by the clock of the leases, and by the one that watches the connection. */
  readonly sentAt: { readonly lease: Moment; readonly connection: Moment };
  /** Its transaction is open. */
  readonly borrowed: BorrowedConnection<ServerSession>;
  readonly statements: RowLockStatements;
}

/** The open transaction of one lock. It ends by COMMIT, or with its connection. */
export class HeldRow implements LeaseAccessor, LeaseGuard {
  readonly keepsTimeLimits = true;
  readonly #session: TrustedSession;
  readonly #token: number;
  lease: Lease | undefined;
  #isLost = false;
  /** Whether the release was committed. Rejects if that is unknown. */
  #ending: Promise<boolean> | undefined;
  #endedAtMs = 0;

  constructor(
    private readonly row: LockedRow,
    private readonly options: {
      readonly name: string;
      readonly owner: string;
      readonly lockAtLeastForMs: number;
      readonly tables: VerifiedTables<RowLockStatements>;
      readonly statementTimeoutMs: number;
      readonly onEnded: () => void;
    },
  ) {
    const { connection } = row.borrowed;
    this.#token = row.record.fencingToken ?? 0;
    const proof = {
      clock: systemClock,
      intervalMs: () => INTERVAL_MS,
      trustedForMs: () => IDLE_MS,
      describeExpiry: () => `the database has not confirmed its transaction for ${IDLE_MS} ms`,
      send: ({ monotonicMs }: Deadline) =>
        connection.ping(monotonicMs).then(
          () => undefined,
          (error: Error) => `its transaction has ended: ${error.message}`,
        ),
      onLost: (reason: string) => this.abandon(reason),
    };
    this.#session = new TrustedSession(proof, row.sentAt.connection);
    connection.onEnd = () => this.abandon('its connection to the database has ended');
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
    this.lease?.lose(reason);
  }

  expiryReason(): string | undefined {
    return this.#session.expiryReason();
  }

  /** Frees the lock at its deadline. COMMIT rather than ROLLBACK, so that `lockAtLeastFor` and the token stay. */
  onLost(): void {
    this.#isLost = true;
    const reason = this.expiryReason();
    if (reason !== undefined) this.abandon(reason);
    this.#ending ??= this.#release(this.options.owner, this.options.statementTimeoutMs);
    this.#ending.catch(() => {}); // A transaction without an answer ends with its connection.
  }

  async extend(): Promise<boolean> {
    return await this.#session.prove();
  }

  async unlock({ owner }: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    this.#ending ??= this.#release(owner, timeoutMs);
    return (await this.#ending) && !this.#isLost;
  }

  /** Settles a COMMIT that got no answer. While the server may still execute it, the row is locked. */
  async find(name: string, { timeoutMs }: StatementOptions): Promise<LockRecord | undefined> {
    const { tables } = this.options;
    const { statements } = this.row;
    const limit: Limit = { timeoutMs, priority: 'lease' };
    const read = async (statement: 'settle' | 'inspect'): Promise<LockRecord | undefined> => {
      const { rows } = await tables.execute(statements[statement].bind({ name }), limit, `lock '${name}'`);
      const [record] = rows.map((row) => recordIn(row, statements.records));
      if (record === undefined || (record.fencingToken ?? 0) >= this.#token) return record;
      // The COMMIT did not take effect, and the lock ended with its connection.
      return { ...record, lockedBy: this.options.owner, held: false };
    };
    try {
      return await read('settle');
    } catch (error) {
      const isLocked = error instanceof LockStorageError && error.outcome === 'contention';
      const isOurEnded = systemClock.monotonicMs() > this.#endedAtMs + 2 * IDLE_MS;
      if (!isLocked || !isOurEnded) throw error;
      return await read('inspect'); // The next holder has the row.
    }
  }

  async #release(owner: string, timeoutMs: number): Promise<boolean> {
    const { borrowed, statements, lockedAtUs } = this.row;
    const { name, lockAtLeastForMs, tables } = this.options;
    this.#session.stop();
    const endsAtMs = systemClock.monotonicMs() + timeoutMs;
    const keptUntil = lockAtLeastForMs > 0 ? lockedAtUs + microseconds(lockAtLeastForMs) : 0;
    const release = {
      name,
      token: this.#token,
      owner: `${owner}${RELEASED_MARK}`,
      lockedAt: lockedAtUs,
      keptUntil,
    };
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
    const { borrowed } = this.row;
    this.#session.stop();
    this.#endedAtMs = systemClock.monotonicMs();
    borrowed.connection.onEnd = () => {};
    borrowed.giveBack(isUsable);
    this.options.onEnded();
  }
}
