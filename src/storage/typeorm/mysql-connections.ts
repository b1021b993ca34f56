import type { DataSource, DataSourceOptions } from 'typeorm';
import { InvalidLockConfigurationError, type Clock } from '../../core';
import { withinLimit } from '../../core/clock';
import type { ConnectionSource, SqlConnection } from '../sql/pooled-sql-executor';
import { TypeOrmMysqlConnection, type MysqlConnection } from './mysql-connection';
import { OwnDataSource } from './own-data-source';
import { OWN_CONNECTIONS, ownMysqlOptions } from './own-data-source-options';
import type { Sockets } from './sockets';

/** Two connections of our own to the application's MySQL, set up once each. */
export class OwnMysqlConnections implements ConnectionSource {
  readonly size = OWN_CONNECTIONS;
  readonly #dataSource: OwnDataSource;
  readonly #setUp = new WeakSet<MysqlConnection>();

  constructor(
    application: DataSource,
    private readonly clock: Clock,
    private readonly statementTimeoutMs: number,
  ) {
    this.#dataSource = new OwnDataSource(
      (sockets) => withSockets(ownMysqlOptions(application, statementTimeoutMs), sockets),
      clock,
      statementTimeoutMs,
    );
  }

  async open(): Promise<SqlConnection> {
    const runner = (await this.#dataSource.get()).createQueryRunner('master');
    const connection = (await runner.connect()) as MysqlConnection;
    const opened = new TypeOrmMysqlConnection(runner, connection, this.clock);
    if (this.#setUp.has(connection)) return opened;
    try {
      for (const sql of this.#sessionSettings()) await this.#set(connection, sql);
    } catch (error) {
      opened.destroy();
      throw error;
    }
    this.#setUp.add(connection);
    return opened;
  }

  async close(): Promise<void> {
    await this.#dataSource.close();
  }

  /** Without a limit, a connection that went silent would keep its place for ever. */
  async #set(connection: MysqlConnection, sql: string): Promise<void> {
    const done = await withinLimit(this.clock, connection.promise().query({ sql }), this.statementTimeoutMs);
    if (done === 'time-out') throw new Error(`the session could not be set up: no answer to ${sql}`);
  }

  /** The server must give up a waiting statement before the client does, else it grants a lease to nobody later on. */
  #sessionSettings(): string[] {
    const lockWaitSeconds = Math.max(1, Math.floor(this.statementTimeoutMs / 1000) - 1);
    return [
      'SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED',
      `SET time_zone = '+00:00', autocommit = 1, innodb_lock_wait_timeout = ${lockWaitSeconds}, lock_wait_timeout = ${lockWaitSeconds}`,
    ];
  }
}

/** The application's own pool, as it is: its sessions are not changed. */
export class SharedMysqlConnections implements ConnectionSource {
  readonly size: number;

  constructor(
    private readonly application: DataSource,
    private readonly clock: Clock,
  ) {
    const { poolSize, charset = 'utf8mb4' } = application.options as { poolSize?: number; charset?: string };
    if (!/^utf8mb4/i.test(charset)) {
      throw new InvalidLockConfigurationError(
        `connections: 'shared' needs the charset utf8mb4, but that of the DataSource is '${charset}': other names than ASCII would be confused. Leave it at 'own'.`,
      );
    }
    this.size = Math.min(OWN_CONNECTIONS, poolSize ?? OWN_CONNECTIONS);
  }

  async open(): Promise<SqlConnection> {
    // Never dataSource.query: that one can be caught by an ambient transaction.
    const runner = this.application.createQueryRunner('master');
    return new TypeOrmMysqlConnection(runner, (await runner.connect()) as MysqlConnection, this.clock);
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}

function withSockets(options: DataSourceOptions, sockets: Sockets): DataSourceOptions {
  const { extra } = options as { extra: Readonly<Record<string, unknown>> };
  return { ...options, extra: { ...extra, stream: sockets.factory(extra['stream']) } };
}
