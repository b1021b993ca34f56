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
   * `'own'` (default): two connections of its own, opened at the first use, so that jobs that hold all of the
   * application's connections cannot keep a lease from being renewed. While statements wait for locked rows, it opens up
   * to four more, and closes them afterwards. `'shared'`: the application's pool. Databases in
   * memory are always shared.
   */
  readonly connections?: 'own' | 'shared' | undefined;
  readonly onWarning?: ((message: string) => void) | undefined;
  /** Upper bound of a statement's time limit. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  readonly clock?: Clock | undefined;
}

/** The shortest `innodb_lock_wait_timeout`. */
const SHORTEST_LOCK_WAIT_MS = 1000;

/** The way to the application's database: what the locks and the runs of one guard go together. */
export class DatabaseAccess {
  /** What the statements on any of the tables need. */
  readonly forTables: SqlTablesOptions;
  readonly statementTimeoutMs: number;
  readonly #place: string;
  readonly #executor: PooledSqlExecutor;

  /** @throws InvalidLockConfigurationError for a kind of database that is not supported, or an option that cannot be meant */
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

  /** Warns of a time limit that the server cannot keep. */
  checkLimits(): void {
    const { dialect, warn } = this.forTables;
    if (dialect !== mysql || this.statementTimeoutMs >= SHORTEST_LOCK_WAIT_MS) return;
    warn(
      `statementTimeout is ${this.statementTimeoutMs} ms, but MySQL and MariaDB wait for a locked row for at least 1 s. ` +
        `After a timeout the server can still grant the lock, which then blocks the job until its lease expires. ` +
        `Set statementTimeout to '1s' or more.`,
    );
  }

  /** Names a table, equal on all instances that share it. */
  placeOf(path: readonly string[]): string {
    return `${this.#place}:${path.join('.')}`;
  }

  /** The same of a table that was found. Servers with tables of the same name are different places. */
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
