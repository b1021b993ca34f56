import {
  InvalidLockConfigurationError,
  LockStorageError,
  systemClock,
  type Clock,
  type Duration,
  type Lock,
  type LockConfiguration,
  type LockObserver,
  type LockProvider,
} from '../../../core';
import { momentOf } from '../../../core/clock';
import { checkOptionNames, refuseOption } from '../../../core/options';
import { parseDuration, parseStatementTimeout } from '../../../core/duration';
import { Lease } from '../../../core/lease/lease';
import { newOwner } from '../../../core/lease/owner';
import { SeenLocks } from '../../../core/lease/seen-locks';
import { checkLockConfiguration } from '../../../core/lock-configuration';
import { DEFAULT_NAME_LENGTH, PROBED_NAME } from '../../../core/lock-name';
import { warnInProcess } from '../../../core/warning';
import { SqlExecutionError, type Limit } from '../statements/statement';
import { driverErrorOf, noneIfInserted } from '../statements/sql-failure';
import { Connections } from '../connections/connections';
import { OwnServerConnections } from '../connections/server-connections';
import type { ServerSession } from '../connections/server-session';
import type { SqlDatabase } from '../connections/sql-database';
import { LockPlace } from '../lock/lock-place';
import { recordIn } from '../lock/sql-storage-accessor';
import type { RowLockTableOptions } from '../schema/table-options';
import { tableOf } from '../schema/tables';
import { VerifiedTables } from '../tables/verified-tables';
import { HeldRow, IDLE_MS, type LockedRow } from './held-row';
import {
  CLUSTER_VARIABLES,
  clusterProblem,
  rowLockStatementsFor,
  type RowLockStatements,
} from './row-lock-statements';

export interface RowLockProviderOptions extends RowLockTableOptions {
  /** At most so many connections: each held lock keeps one, and each attempt needs one. At least 2, default 5. */
  readonly maxConnections?: number | undefined;
  /**
   * How long the database waits for another holder before the lock is refused. Default 0: it does not wait. In whole
   * seconds on MySQL and MariaDB.
   */
  readonly wait?: Duration | undefined;
  /** The longest time limit of a statement, without `wait`. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  /** Called once for each warning. Default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** For `lockAtMostFor` and `keepAlive`. Connections are watched in real time, because the server watches them too. */
  readonly clock?: Clock | undefined;
}

const TABLE = ['rowLockTable', 'schema', 'nameLength'];
const OPTIONS = [...TABLE, 'maxConnections', 'wait', 'statementTimeout', 'onWarning', 'clock'];

/** A connection that is not used is closed before the server ends it. */
const IDLE_CONNECTION_MS = 3000;

/** How often the row of a lock may be deleted between the insert and the lock before the attempt fails. */
const MOST_ROUNDS = 3;

/** With a record alone, the row is free, but `lockAtLeastFor` of its last holder still lasts. */
type FoundRow = LockedRow | Pick<LockedRow, 'record'> | 'held';

/** Holds each lock by a transaction that has locked its row. COMMIT frees it, and so does the end of its connection. */
export class SqlRowLockProvider implements LockProvider {
  readonly nameLength: number;
  readonly statementTimeoutMs: number;
  readonly #database: SqlDatabase;
  readonly #clock: Clock;
  readonly #waitMs: number;
  /** Begins the transaction that locks a row. */
  readonly #begin: string;
  readonly #connections: Connections<ServerSession>;
  readonly #tables: VerifiedTables<RowLockStatements>;
  readonly #place: LockPlace<RowLockStatements>;
  readonly #seenLocks = new SeenLocks();
  readonly #held = new Set<HeldRow>();
  #isSuitable = false;

  /** @throws InvalidLockConfigurationError for SQLite, an invalid option or an invalid identifier */
  constructor(database: SqlDatabase, options: RowLockProviderOptions = {}) {
    checkOptionNames(options, OPTIONS, 'RowLockProvider');
    const {
      nameLength = DEFAULT_NAME_LENGTH,
      maxConnections = 5,
      statementTimeout = '5s',
      wait = 0,
    } = options;
    const { clock = systemClock, onWarning: warn = warnInProcess } = options;
    const table = tableOf('rowLock', options, database);
    if (!Number.isSafeInteger(maxConnections) || maxConnections < 2)
      refuseOption(
        'maxConnections',
        maxConnections,
        'it must be a whole number, 2 or more. Each held lock keeps a connection, and the next attempt needs another one',
      );
    this.nameLength = nameLength;
    this.statementTimeoutMs = parseStatementTimeout(statementTimeout);
    this.#waitMs = waitOf(wait, database);
    this.#clock = clock;
    this.#database = database;
    const { sessions, dialect } = database;
    const { statementTimeoutMs } = this;
    if (sessions === undefined)
      throw new InvalidLockConfigurationError(
        'RowLockProvider cannot use SQLite, which locks whole files, not rows. Leave the option lockProvider out.',
      );
    const { driver, open } = sessions;
    const limits = { statementTimeoutMs, idleMs: IDLE_MS, waitMs: this.#waitMs };
    this.#begin = driver.rowLock.begin(limits);
    const source = new OwnServerConnections(
      driver,
      open,
      { clock: systemClock, statementTimeoutMs, warn },
      {
        size: maxConnections,
        whenFull: `all ${maxConnections} are in use, one for each held lock. Raise maxConnections of the RowLockProvider`,
        settings: driver.rowLock.session(limits),
        idleForMs: IDLE_CONNECTION_MS,
      },
    );
    this.#connections = new Connections(source, dialect, systemClock);
    this.#tables = new VerifiedTables(
      { ...database, warn, connections: this.#connections },
      [table],
      ([found]) => found && rowLockStatementsFor(found, { dialect, table, waits: this.#waitMs > 0 }),
    );
    this.#place = new LockPlace(this.#tables, ({ records }) => records);
  }

  /** A text in the table. `undefined` until it was read: by `check`, or by the first lock, which inserts it. */
  get id(): string | undefined {
    return this.#place.id;
  }

  async refreshId(): Promise<void> {
    await this.#place.refresh({ timeoutMs: this.statementTimeoutMs });
  }

  async lock(configuration: LockConfiguration, observer: LockObserver = {}): Promise<Lock | undefined> {
    const terms = checkLockConfiguration(configuration, this.nameLength);
    const { name, lockAtMostForMs, lockAtLeastForMs } = terms;
    const { statementTimeoutMs } = this;
    const timeoutMs = Math.min(lockAtMostForMs / 3, statementTimeoutMs) + this.#waitMs;
    const startedAtMs = this.#clock.monotonicMs();
    await this.#place.settle({ timeoutMs: statementTimeoutMs }, this.#clock);
    const found = await this.#find(name, { timeoutMs, priority: 'lease' });
    if (found === 'held') return undefined;
    const { lockedBy: heldBy, lockUntil: heldUntil, fencingToken = 0 } = found.record;
    if (!('sentAt' in found)) {
      if (this.#seenLocks.takeRead(name, this.#clock.monotonicMs()))
        observer.refused?.({ heldBy, heldUntil });
      return undefined;
    }
    const owner = newOwner(observer.instance);
    const held: HeldRow = new HeldRow(found, {
      name,
      owner,
      lockAtLeastForMs,
      statementTimeoutMs,
      tables: this.#tables,
      onEnded: () => this.#held.delete(held),
    });
    this.#held.add(held);
    const shared = { accessor: held, guard: held, clock: this.#clock, random: Math.random, keepRows: true };
    const lease = new Lease(
      { ...shared, terms, owner, observer, statementTimeoutMs },
      { fencingToken },
      found.sentAt.lease,
    );
    held.lease = lease;
    return await lease.orRelease('its connection', startedAtMs);
  }

  async probe(timeoutMs: number): Promise<void> {
    const limit: Limit = { timeoutMs: Math.min(timeoutMs, this.statementTimeoutMs), priority: 'lease' };
    const { inspect } = await this.#ready(limit);
    await this.#tables.execute(inspect.bind({ name: PROBED_NAME }), limit);
  }

  /**
   * Checks the table and the kind of the server. Problems that do not stop locks from working are passed to `onWarning`.
   *
   * @throws SchemaMismatchError if the table cannot hold locks safely. The message lists every problem with its fix.
   * @throws InvalidLockConfigurationError on a server whose row locks do not exclude one another
   * @throws LockStorageError if the database cannot be reached. The message contains its address.
   */
  async check(): Promise<void> {
    await this.#ready({ timeoutMs: this.statementTimeoutMs, priority: 'lease' });
    await this.refreshId();
  }

  /** Closes all connections. Locks that are still held are lost. */
  async close(): Promise<void> {
    const held = [...this.#held];
    for (const row of held) row.abandon('its provider was closed');
    await Promise.all(held.map((row) => row.ended()));
    await this.#connections.close();
  }

  /** The statements for the verified table, on a server whose row locks exclude one another. */
  async #ready(limit: Limit): Promise<RowLockStatements> {
    const statements = await this.#tables.statements(limit);
    if (this.#isSuitable) return statements;
    const { dialect, address } = this.#database;
    const text = CLUSTER_VARIABLES[dialect.name];
    const rows = text ? (await this.#tables.execute({ id: '', text, values: [] }, limit)).rows : [];
    const variables = rows.map((row) => [String(row['Variable_name']), row['Value']] as const);
    const problem = clusterProblem(Object.fromEntries<unknown>(variables));
    if (problem !== undefined)
      throw new InvalidLockConfigurationError(
        `RowLockProvider cannot use ${address}: ${problem}, where transactions on two nodes can lock the same row. Use the lock table instead.`,
      );
    this.#isSuitable = true;
    return statements;
  }

  /** @throws LockStorageError if it is not certain who holds the row */
  async #find(name: string, limit: Limit): Promise<FoundRow> {
    const subject = `lock '${name}'`;
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const statements = await this.#ready(limit);
      if (!this.#seenLocks.has(name)) await this.#createRow(name, statements, limit);
      const found = await this.#lockRow(name, statements, limit).catch((error: unknown) => {
        throw this.#tables.failureOf(error, subject);
      });
      if (found !== undefined) return found;
      this.#seenLocks.forget(name);
      this.#place.expectLoss();
    }
    throw new LockStorageError(
      `Could not lock ${subject}: another process keeps deleting its row. Leave the rows of the table in place.`,
      { outcome: 'nothing-ran' },
    );
  }

  /** In autocommit: two transactions can both lock a row that does not exist. */
  async #createRow(name: string, { inspect, insert }: RowLockStatements, limit: Limit): Promise<void> {
    const subject = `lock '${name}'`;
    const { rows } = await this.#tables.execute(inspect.bind({ name }), limit, subject);
    if (rows.length === 0)
      await this.#tables.execute(insert.bind({ name }), limit, subject).catch(noneIfInserted);
    this.#seenLocks.add(name);
  }

  /**
   * Tries to lock the row. Gives the connection back, outside a transaction, unless the row is locked.
   *
   * @returns `undefined` if there is no row
   * @throws the error of the driver or of the connection
   */
  async #lockRow(name: string, statements: RowLockStatements, limit: Limit): Promise<FoundRow | undefined> {
    const now = () => ({ lease: momentOf(this.#clock), connection: momentOf(systemClock) });
    const statement = statements.lock.bind({ name });
    const borrowed = await this.#connections.borrow(limit);
    const { connection, endsAtMs, giveBack } = borrowed;
    try {
      await connection.begin(this.#begin, endsAtMs);
      let sentAt = now();
      let { rows } = await connection.sendInside(statement, endsAtMs);
      if (this.#waitMs > 0) {
        // The first answer can hold the time before the wait.
        sentAt = now();
        ({ rows } = await connection.sendInside(statement, endsAtMs));
      }
      const [row] = rows;
      const record = row && recordIn(row, statements.records);
      if (record?.held === false)
        return { record, lockedAtUs: Number(row?.['now_us']), sentAt, borrowed, statements };
      giveBack(await connection.rollBack(endsAtMs));
      return record && { record };
    } catch (error) {
      giveBack(await connection.rollBack(endsAtMs));
      if (isRowLocked(error)) return 'held';
      throw error;
    }
  }
}

/** MySQL: NOWAIT. MariaDB: NOWAIT, and on both a wait that was too long. PostgreSQL: both. */
const ROW_LOCKED = new Set([3572, 1205]);

function isRowLocked(error: unknown): boolean {
  const { errno = 0, code } = driverErrorOf(error instanceof SqlExecutionError ? error.cause : error);
  return ROW_LOCKED.has(errno) || code === '55P03';
}

function waitOf(wait: Duration, { dialect }: SqlDatabase): number {
  const waitMs = parseDuration(wait, 'wait');
  if (dialect.name !== 'mysql' || waitMs % 1000 === 0) return waitMs;
  refuseOption('wait', wait, 'MySQL and MariaDB wait for whole seconds');
}
