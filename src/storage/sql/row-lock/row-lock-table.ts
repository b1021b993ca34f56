import { InvalidLockConfigurationError, LockStorageError, systemClock, type Clock } from '../../../core';
import { momentOf } from '../../../core/clock';
import { SeenLocks } from '../../../core/lease/seen-locks';
import { Connections, type BorrowedConnection } from '../connections/connections';
import { OwnServerConnections } from '../connections/server-connections';
import type { RowLockLimits, ServerDriver } from '../connections/server-driver';
import type { ServerSession } from '../connections/server-session';
import type { Limit } from '../connections/sql-executor';
import { DuplicateRecord } from '../connections/sql-failure';
import type { SqlDatabase } from '../database/sql-database';
import type { InspectedTable } from '../schema/inspected-table';
import type { TableDefinition } from '../schema/table-definition';
import { VerifiedTables } from '../schema/verified-tables';
import { CLUSTER_VARIABLES, clusterProblem } from './cluster';
import { lockRow, type RowAnswer } from './lock-row';
import { rowLockStatementsFor, type RowLockStatements } from './row-lock-statements';

/** A connection that is not used is closed before the server ends it. */
const IDLE_CONNECTION_MS = 3000;

/** How often the row of a lock may be deleted between the insert and the lock before the attempt fails. */
const MOST_ROUNDS = 3;

interface RowLockTableSettings {
  readonly table: TableDefinition;
  readonly limits: RowLockLimits;
  readonly maxConnections: number;
  /** The time of the leases. */
  readonly clock: Clock;
  readonly warn: (message: string) => void;
}

/** What an attempt found. A locked row comes with its connection. */
export type FoundRow =
  | Exclude<RowAnswer, { is: 'locked' | 'missing' }>
  | (Extract<RowAnswer, { is: 'locked' }> & {
      readonly borrowed: BorrowedConnection<ServerSession>;
      readonly statements: RowLockStatements;
    });

/** The table of row locks, and the connections that lock its rows. */
export class RowLockTable {
  readonly tables: VerifiedTables<RowLockStatements>;
  readonly seenLocks = new SeenLocks();
  readonly #driver: ServerDriver;
  readonly #connections: Connections<ServerSession>;
  #found: InspectedTable | undefined;
  #isSuitable = false;

  /** @throws InvalidLockConfigurationError for SQLite */
  constructor(
    private readonly database: SqlDatabase,
    private readonly settings: RowLockTableSettings,
  ) {
    const { sessions, dialect, address, redact, name } = database;
    const { limits, maxConnections, table, warn } = settings;
    if (sessions === undefined)
      throw new InvalidLockConfigurationError(
        'RowLockProvider cannot use SQLite, which locks whole files, not rows. Leave the option lockProvider out.',
      );
    const { driver } = sessions;
    this.#driver = driver;
    const { statementTimeoutMs, waitMs } = limits;
    const source = new OwnServerConnections(
      driver,
      sessions.open,
      { clock: systemClock, statementTimeoutMs, warn },
      {
        size: maxConnections,
        whenFull: `all ${maxConnections} are in use, one for each held lock. Raise maxConnections of the RowLockProvider`,
        settings: driver.rowLock.session(limits),
        prepares: false,
        idleForMs: IDLE_CONNECTION_MS,
      },
    );
    this.#connections = new Connections(source, dialect, systemClock);
    this.tables = new VerifiedTables(
      {
        database: name,
        dialect,
        address,
        redact,
        sharesSessions: false,
        warn,
        connections: this.#connections,
      },
      [table],
      ([found]) => {
        this.#found = found;
        return found && rowLockStatementsFor(found, { dialect, table, waits: waitMs > 0 });
      },
    );
  }

  /** The table as last found. */
  get found(): InspectedTable | undefined {
    return this.#found;
  }

  /**
   * The statements for the verified table, on a server whose row locks exclude one another.
   *
   * @throws SchemaMismatchError, InvalidLockConfigurationError, LockStorageError
   */
  async ready(limit: Limit): Promise<RowLockStatements> {
    const statements = await this.tables.statements(limit);
    if (!this.#isSuitable) await this.#checkServer(limit);
    return statements;
  }

  /** @throws LockStorageError if it is not certain who holds the row */
  async lock(name: string, limit: Limit): Promise<FoundRow> {
    const { settings } = this;
    const subject = `lock '${name}'`;
    const now = () => ({ lease: momentOf(settings.clock), connection: momentOf(systemClock) });
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const statements = await this.ready(limit);
      if (!this.seenLocks.has(name)) await this.#createRow(name, statements, limit);
      try {
        const borrowed = await this.#connections.borrow(limit);
        const attempt = { name, statements, driver: this.#driver, limits: settings.limits, now };
        const answer = await lockRow(borrowed, attempt);
        if (answer.is === 'locked') return { ...answer, borrowed, statements };
        if (answer.is !== 'missing') return answer;
      } catch (error) {
        throw this.tables.failureOf(error, subject);
      }
      this.seenLocks.forget(name);
    }
    throw new LockStorageError(
      `Could not lock ${subject}: another process keeps deleting its row. Leave the rows of the table in place.`,
      { outcome: 'nothing-ran' },
    );
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }

  /** In autocommit: two transactions can both lock a row that does not exist. */
  async #createRow(name: string, statements: RowLockStatements, limit: Limit): Promise<void> {
    const subject = `lock '${name}'`;
    const { rows } = await this.tables.execute(statements.inspect.bind({ name }), limit, subject);
    try {
      if (rows.length === 0) await this.tables.execute(statements.insert.bind({ name }), limit, subject);
    } catch (error) {
      // Another process has created the row. It may hold it already.
      const isThere = error instanceof LockStorageError && error.outcome === 'contention';
      if (!isThere && !(error instanceof DuplicateRecord)) throw error;
    }
    this.seenLocks.add(name);
  }

  async #checkServer(limit: Limit): Promise<void> {
    const { dialect, address } = this.database;
    const text = CLUSTER_VARIABLES[dialect.name];
    const answer = text && (await this.tables.execute({ id: '', text, values: [] }, limit));
    const problem = answer && clusterProblem(answer.rows);
    if (problem)
      throw new InvalidLockConfigurationError(
        `RowLockProvider cannot use ${address}: ${problem}, where transactions on two nodes can lock the same row. Use the lock table instead.`,
      );
    this.#isSuitable = true;
  }
}
