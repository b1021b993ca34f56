import { systemClock, type Clock, type Duration } from '../../../core';
import { refuseOption } from '../../../core/options';
import { parseStatementTimeout } from '../../../core/duration';
import { warnInProcess } from '../../../core/warning';
import { Connections } from '../connections/connections';
import { OWN_CONNECTIONS } from '../connections/server-connections';
import { mysql } from '../dialects/mysql';
import type { SqlRunStoreOptions } from '../ledger/sql-run-store';
import type { TableNames } from '../schema/table-options';
import { tableOf } from '../schema/tables';
import type { SqlTablesOptions } from '../tables/verified-tables';
import type { SqlDatabase } from '../connections/sql-database';

export interface DatabaseAccessOptions {
  /**
   * `'own'` (default): cronlatch opens two connections of its own at first use, so leases are renewed even if jobs hold
   * all of the application's connections. While statements wait for locked rows, it opens up to four more, and closes
   * them afterwards. A whole number of at least 2: it opens so many instead of two, for many once-per runs at once. One
   * of them is kept free for leases. On SQLite it always opens one. A database in memory exists only in the application's
   * connection, so cronlatch uses that one.
   */
  readonly connections?: 'own' | number | undefined;
  /**
   * `true` (default): requests that wait for a connection are sent together, up to 50 locks with one statement. It has no
   * effect with `keepRows: false`, with a `statementTimeout` below 3 s, and on SQLite.
   */
  readonly grouping?: boolean | undefined;
  /** Called once for each warning. Default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** The longest time limit of a statement. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  readonly clock?: Clock | undefined;
}

/** InnoDB waits for a locked row for one second or more, and up to one more until it checks. */
const SHORTEST_FOR_GROUPS_MS = 3000;

/** The shortest `innodb_lock_wait_timeout`. */
const SHORTEST_LOCK_WAIT_MS = 1000;

/** The connections to the application's database that the locks and runs of one guard share. */
export class DatabaseAccess {
  readonly forTables: SqlTablesOptions;
  readonly statementTimeoutMs: number;
  readonly #connections: Connections;

  /** @throws InvalidLockConfigurationError for an invalid option */
  constructor(
    readonly database: SqlDatabase,
    options: DatabaseAccessOptions,
  ) {
    const { clock = systemClock, statementTimeout = '5s', connections = 'own' } = options;
    const isNumber = Number.isSafeInteger(connections) && Number(connections) >= OWN_CONNECTIONS;
    if (connections !== 'own' && !isNumber)
      refuseOption('connections', connections, `use 'own', or a whole number of at least 2`);
    const { onWarning: warn = warnInProcess } = options;
    this.statementTimeoutMs = parseStatementTimeout(statementTimeout);
    const { statementTimeoutMs } = this;
    const count = typeof connections === 'number' ? connections : undefined;
    const source = database.connect({ clock, statementTimeoutMs, warn, connections: count });
    this.#connections = new Connections(source, database.dialect, clock);
    this.forTables = { ...database, warn, connections: this.#connections };
  }

  /**
   * Whether requests that wait for a connection travel together. With a short `statementTimeout`, a row that another
   * session has locked would fail all of its group.
   *
   * @throws InvalidLockConfigurationError for another type
   */
  sendsGroups({ grouping = true }: Pick<DatabaseAccessOptions, 'grouping'>): boolean {
    if (typeof grouping !== 'boolean') refuseOption('grouping', grouping, 'use true or false');
    const isPatient = this.statementTimeoutMs >= SHORTEST_FOR_GROUPS_MS;
    return grouping && isPatient && this.database.dialect.groupStatements !== undefined;
  }

  /** Warns if the server cannot keep the time limit of statements. */
  checkLimits(): void {
    const { dialect, warn } = this.forTables;
    if (dialect !== mysql || this.statementTimeoutMs >= SHORTEST_LOCK_WAIT_MS) return;
    warn(
      `statementTimeout is ${this.statementTimeoutMs} ms, but MySQL and MariaDB wait for a locked row for at least 1 s. ` +
        `After a timeout the server can still grant the lock, which then blocks the job until its lease expires. ` +
        `Set statementTimeout to '1s' or more.`,
    );
  }

  forRuns(named: TableNames): SqlRunStoreOptions {
    const { database, forTables, statementTimeoutMs } = this;
    return {
      ...database,
      ...forTables,
      tables: { run: tableOf('run', named, database), event: tableOf('event', named, database) },
      jobTable: tableOf('job', named, database),
      actTable: tableOf('act', named, database),
      noticeTable: tableOf('notice', named, database),
      logTable: tableOf('log', named, database),
      statementTimeoutMs,
    };
  }

  async close(): Promise<void> {
    await this.#connections.close();
  }
}
