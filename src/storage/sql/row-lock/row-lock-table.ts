import {
  InvalidLockConfigurationError,
  LockStorageError,
  systemClock,
  type Clock,
  type NamedLockRecord,
} from '../../../core';
import { momentOf, type Moment } from '../../../core/clock';
import { SeenLocks } from '../../../core/lease/seen-locks';
import { Connections, type BorrowedConnection } from '../connections/connections';
import { OwnServerConnections } from '../connections/server-connections';
import type { RowLockLimits, ServerDriver } from '../connections/server-driver';
import type { ServerSession } from '../connections/server-session';
import { NamedStatement, SqlExecutionError, type Limit, type SqlRow } from '../statements/statement';
import { driverErrorOf, noneIfInserted } from '../statements/sql-failure';
import type { SqlDatabase } from '../connections/sql-database';
import { quoteLockTable, type DialectName, type SqlDialect } from '../dialects/sql-dialect';
import { LockPlace } from '../lock/lock-place';
import { lockStatementsFor, type LockStatements } from '../lock/lock-statements';
import { recordIn } from '../lock/sql-storage-accessor';
import { asFound, type InspectedTable } from '../schema/inspected-table';
import type { TableDefinition } from '../schema/table-definition';
import { VerifiedTables } from '../tables/verified-tables';

/** A connection that is not used is closed before the server ends it. */
const IDLE_CONNECTION_MS = 3000;

/** How often the row of a lock may be deleted between the insert and the lock before the attempt fails. */
const MOST_ROUNDS = 3;

export interface LockedRow {
  readonly is: 'locked';
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

type FoundRow =
  | LockedRow
  /** The row is free, but `lockAtLeastFor` of its last holder still lasts. */
  | { readonly is: 'kept'; readonly record: NamedLockRecord }
  | { readonly is: 'held' };

/** The table of row locks, and the connections that lock its rows. */
export class RowLockTable {
  readonly tables: VerifiedTables<RowLockStatements>;
  readonly place: LockPlace<RowLockStatements>;
  readonly seenLocks = new SeenLocks();
  readonly #driver: ServerDriver;
  readonly #connections: Connections<ServerSession>;
  #isSuitable = false;

  /** @throws InvalidLockConfigurationError for SQLite */
  constructor(
    private readonly database: SqlDatabase,
    private readonly settings: {
      readonly table: TableDefinition;
      readonly limits: RowLockLimits;
      readonly maxConnections: number;
      /** The time of the leases. */
      readonly clock: Clock;
      readonly warn: (message: string) => void;
    },
  ) {
    const { sessions, dialect } = database;
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
        idleForMs: IDLE_CONNECTION_MS,
      },
    );
    this.#connections = new Connections(source, dialect, systemClock);
    this.tables = new VerifiedTables(
      { ...database, warn, connections: this.#connections },
      [table],
      ([found]) => found && rowLockStatementsFor(found, { dialect, table, waits: waitMs > 0 }),
    );
    this.place = new LockPlace(this.tables, ({ records }) => records);
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
    const subject = `lock '${name}'`;
    for (let round = 1; round <= MOST_ROUNDS; round += 1) {
      const statements = await this.ready(limit);
      if (!this.seenLocks.has(name)) await this.#createRow(name, statements, limit);
      const found = await this.#lockRow(name, statements, limit).catch((error: unknown) => {
        throw this.tables.failureOf(error, subject);
      });
      if (found !== undefined) return found;
      this.seenLocks.forget(name);
      this.place.expectLoss();
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
    if (rows.length === 0)
      await this.tables.execute(statements.insert.bind({ name }), limit, subject).catch(noneIfInserted);
    this.seenLocks.add(name);
  }

  /**
   * Tries to lock the row. Gives the connection back, outside a transaction, unless the row is locked.
   *
   * @returns `undefined` if there is no row
   * @throws the error of the driver or of the connection
   */
  async #lockRow(name: string, statements: RowLockStatements, limit: Limit): Promise<FoundRow | undefined> {
    const { clock, limits } = this.settings;
    const now = () => ({ lease: momentOf(clock), connection: momentOf(systemClock) });
    const statement = statements.lock.bind({ name });
    const borrowed = await this.#connections.borrow(limit);
    const { connection, endsAtMs, giveBack } = borrowed;
    try {
      await connection.begin(this.#driver.rowLock.begin(limits), endsAtMs);
      let sentAt = now();
      let { rows } = await connection.sendInside(statement, endsAtMs);
      if (limits.waitMs > 0) {
        // The first answer can hold the time before the wait.
        sentAt = now();
        ({ rows } = await connection.sendInside(statement, endsAtMs));
      }
      const [row] = rows;
      const record = row && recordIn(row, statements.records);
      if (record?.held === false)
        return { is: 'locked', record, lockedAtUs: Number(row?.['now_us']), sentAt, borrowed, statements };
      giveBack(await connection.rollBack(endsAtMs));
      return record && { is: 'kept', record };
    } catch (error) {
      giveBack(await connection.rollBack(endsAtMs));
      if (isRowLocked(error)) return { is: 'held' };
      throw error;
    }
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

/** MySQL: NOWAIT. MariaDB: NOWAIT, and on both a wait that was too long. PostgreSQL: both. */
const ROW_LOCKED = new Set([3572, 1205]);

function isRowLocked(error: unknown): boolean {
  const { errno = 0, code } = driverErrorOf(error instanceof SqlExecutionError ? error.cause : error);
  return ROW_LOCKED.has(errno) || code === '55P03';
}

/** Returns the variables that `clusterProblem` needs. PostgreSQL has no such clusters of its own. */
const CLUSTER_VARIABLES: Readonly<Partial<Record<DialectName, string>>> = {
  mysql: `SHOW GLOBAL VARIABLES WHERE Variable_name IN
    ('wsrep_on', 'group_replication_group_name', 'group_replication_single_primary_mode')`,
};

/** Why row locks do not exclude one another on this server; `undefined` if they do. */
export function clusterProblem(rows: readonly SqlRow[]): string | undefined {
  const variables = new Map(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
  if (variables.get('wsrep_on') === 'ON') return 'it is a node of a Galera cluster (wsrep_on = ON)';
  const isInGroup = (variables.get('group_replication_group_name') ?? '') !== '';
  if (!isInGroup || variables.get('group_replication_single_primary_mode') !== 'OFF') return undefined;
  return 'it is a member of a group with several primaries (group_replication_single_primary_mode = OFF)';
}

/** The statements for a table of row locks as it was found. */
export interface RowLockStatements {
  /** Creates the row of a lock that is free. */
  readonly insert: NamedStatement;
  /** Locks the row, and returns the time, the next token, the last holder and whether its `lockAtLeastFor` lasts. */
  readonly lock: NamedStatement;
  /** The same record as `inspect`. Fails if another transaction holds the row. */
  readonly settle: NamedStatement;
  /** Writes the release of a holder, unless a later one has written its own. */
  readonly release: NamedStatement;
  readonly inspect: NamedStatement;
  readonly records: LockStatements;
}

/** An insert of a row that exists does not wait for its holder. MySQL waits for a second, the shortest limit. */
const INSERT: Readonly<Record<DialectName, { readonly before: string; readonly after: string }>> = {
  mysql: { before: '/*M! SET STATEMENT innodb_lock_wait_timeout = 0 FOR */ ', after: '' },
  postgres: { before: '', after: ' ON CONFLICT DO NOTHING' },
  sqlite: { before: '', after: '' },
};

/** @param found a table without errors */
function rowLockStatementsFor(
  found: InspectedTable,
  { dialect, table, waits }: { dialect: SqlDialect; table: TableDefinition; waits: boolean },
): RowLockStatements | undefined {
  const records = lockStatementsFor(found, table, dialect);
  if (records === undefined) return undefined;
  const { now } = records.shape;
  const { us, at } = dialect.runFragments({ now });
  const quoted = quoteLockTable(asFound(table, found), dialect);
  const { table: into, name, lockUntil, lockedAt, lockedBy, fencingToken } = quoted;
  const { before, after } = INSERT[dialect.name];
  const named = (text: string): NamedStatement => new NamedStatement(text, dialect.placeholder);
  const record = `SELECT ${name} AS name, ${lockedBy} AS locked_by, CASE WHEN ${lockUntil} > ${now} THEN 1 ELSE 0 END AS held,
    ${us(lockUntil)} AS lock_until_us, ${us(now)} AS now_us`;
  const from = `FROM ${into} WHERE ${name} = :name FOR UPDATE`;
  return {
    insert: named(
      `${before}INSERT INTO ${into} (${name}, ${lockUntil}, ${lockedAt}, ${lockedBy}, ${fencingToken})
       VALUES (:name, ${now}, ${now}, '', 0)${after}`,
    ),
    lock: named(
      `${record}, GREATEST(${fencingToken} + 1, ${us(now)}) AS fencing_token ${from}${waits ? '' : ' NOWAIT'}`,
    ),
    settle: named(`${record}, ${fencingToken} AS fencing_token ${from} NOWAIT`),
    // The database clock may be set back while a job runs, so the end is compared with its current time.
    release: named(
      `UPDATE ${into} SET ${lockUntil} = GREATEST(${now}, ${at(':keptUntil')}), ${lockedAt} = ${at(':lockedAt')},
         ${lockedBy} = :owner, ${fencingToken} = :token
       WHERE ${name} = :name AND ${fencingToken} < :token`,
    ),
    inspect: records.inspect,
    records,
  };
}
