import { createHash } from 'node:crypto';
import type { DataSource } from 'typeorm';
import { InvalidLockConfigurationError, systemClock, type Clock, type Duration } from '../../core';
import { describeValue } from '../../core/describe-value';
import { parsePositiveDuration } from '../../core/duration';
import { mysql } from '../sql/dialects/mysql';
import { sqlite } from '../sql/dialects/sqlite';
import type { InspectedTable } from '../sql/schema/inspected-table';
import { PooledSqlExecutor, type ConnectionSource } from '../sql/connections/pooled-sql-executor';
import type { SqlDialect } from '../sql/dialects/sql-dialect';
import type { SqlTablesOptions } from '../sql/schema/verified-tables';
import { describeDatabase } from './database';
import { mysqlDriver } from './mysql-driver';
import { postgresDriver } from './postgres-driver';
import { OwnServerConnections, SharedServerConnections } from './server-connections';
import { OwnSqliteConnection, SharedSqliteConnection } from './sqlite-connections';

export interface DatabaseAccessOptions {
  /**
   * `'own'` (default): cronlatch opens two connections of its own at first use, so leases are renewed even if jobs hold
   * all of the application's connections. While statements wait for locked rows, it opens up to four more, and closes
   * them afterwards. `'shared'`: cronlatch uses the application's pool. In-memory databases are always shared.
   */
  readonly connections?: 'own' | 'shared' | undefined;
  /** Called once for each warning. Default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** The longest time limit of a statement. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  readonly clock?: Clock | undefined;
}

/** The shortest `innodb_lock_wait_timeout`. */
const SHORTEST_LOCK_WAIT_MS = 1000;

/** The connections to the application's database that the locks and runs of one guard share. */
export class DatabaseAccess {
  /** Passed to the lock store and the run store. */
  readonly forTables: SqlTablesOptions;
  readonly statementTimeoutMs: number;
  readonly #place: string;
  readonly #executor: PooledSqlExecutor;

  /** @throws InvalidLockConfigurationError for an unsupported kind of database or an invalid option */
  constructor(dataSource: DataSource, options: DatabaseAccessOptions) {
    const { place, dialect, address, redact, isInMemory } = describeDatabase(dataSource);
    const { clock = systemClock, statementTimeout = '5s', connections = 'own' } = options;
    if (connections !== 'own' && connections !== 'shared') {
      throw new InvalidLockConfigurationError(
        `connections is ${describeValue(connections)}: use 'own' or 'shared'.`,
      );
    }
    const sharesSessions = isInMemory || connections === 'shared';
    const warn =
      options.onWarning ?? ((message: string): void => process.emitWarning(message, { code: 'CRONLATCH' }));
    this.#place = place;
    this.statementTimeoutMs = parsePositiveDuration(statementTimeout, 'statementTimeout');
    const { statementTimeoutMs } = this;
    const settings = { dialect, shared: sharesSessions, clock, statementTimeoutMs, warn };
    this.#executor = new PooledSqlExecutor(connectionsOf(dataSource, settings), dialect, clock);
    const { extra } = dataSource.options as { extra?: { database?: string } };
    const database = extra?.database ?? dataSource.driver.database; // TypeORM merges `extra` last.
    this.forTables = { database, dialect, address, redact, sharesSessions, warn, executor: this.#executor };
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

  /** Returns a name of the table that is the same on all instances that share it. */
  placeOf(path: readonly string[]): string {
    return `${this.#place}:${path.join('.')}`;
  }

  /** The same for a table that was inspected. Tables of the same name on different servers get different names. */
  placeOfFound(path: readonly string[], { server, database, schema = '' }: InspectedTable): string {
    if (server === undefined) return this.placeOf(path);
    const digest = createHash('sha256').update(server).digest('hex').slice(0, 12);
    const parts = [...(database === undefined ? [] : [database]), schema, ...path.slice(-1)];
    return `${this.forTables.dialect.name}@${digest}:${parts.join('.')}`;
  }

  async close(): Promise<void> {
    await this.#executor.close();
  }
}

interface ConnectionSettings {
  readonly dialect: SqlDialect;
  readonly shared: boolean;
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  readonly warn: (message: string) => void;
}

function connectionsOf(
  dataSource: DataSource,
  { dialect, shared, clock, statementTimeoutMs, warn }: ConnectionSettings,
): ConnectionSource {
  if (dialect === sqlite) {
    return shared
      ? new SharedSqliteConnection(dataSource, clock)
      : new OwnSqliteConnection(dataSource, clock, warn);
  }
  const driver = dialect === mysql ? mysqlDriver : postgresDriver;
  return shared
    ? new SharedServerConnections(dataSource, driver, dialect, clock)
    : new OwnServerConnections(dataSource, driver, dialect, clock, statementTimeoutMs);
}
