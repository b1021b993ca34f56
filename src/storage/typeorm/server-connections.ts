import type { DataSource } from 'typeorm';
import type { Clock } from '../../core';
import type { ConnectionSource, SqlConnection } from '../sql/pooled-sql-executor';
import type { SqlDialect } from '../sql/sql-dialect';
import { OwnDataSource } from './own-data-source';
import { OWN_CONNECTIONS } from './own-data-source-options';
import { ServerConnection } from './server-connection';
import type { ServerDriver } from './server-driver';
import { ServerSession } from './server-session';

/** Two connections of our own to the application's database, set up once each, and kept. */
export class OwnServerConnections implements ConnectionSource {
  readonly size = OWN_CONNECTIONS;
  readonly #dataSource: OwnDataSource;
  readonly #idle: ServerConnection[] = [];

  constructor(
    application: DataSource,
    private readonly driver: ServerDriver,
    private readonly dialect: SqlDialect,
    private readonly clock: Clock,
    private readonly statementTimeoutMs: number,
  ) {
    this.#dataSource = new OwnDataSource(
      (sockets) => driver.ownOptions(application, statementTimeoutMs, sockets),
      clock,
      statementTimeoutMs,
    );
  }

  open(): SqlConnection | Promise<SqlConnection> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (idle.isAlive) return idle;
      idle.destroy(); // The server has ended it meanwhile.
    }
    return this.#connect();
  }

  async close(): Promise<void> {
    await this.#dataSource.close();
  }

  async #connect(): Promise<SqlConnection> {
    const runner = (await this.#dataSource.get()).createQueryRunner('master');
    const { driver, dialect, clock } = this;
    const session = new ServerSession(await runner.connect(), { driver, dialect, clock, isShared: false });
    const connection = new ServerConnection(runner, session, (released) => this.#idle.push(released));
    session.onEnd(() => (connection.isAlive = false));
    try {
      for (const text of this.driver.sessionSettings(this.statementTimeoutMs)) {
        const endsAtMs = this.clock.monotonicMs() + this.statementTimeoutMs;
        await session.run(text, endsAtMs);
      }
      return connection;
    } catch (error) {
      connection.destroy();
      throw error;
    }
  }
}

/** The application's own pool, as it is: its sessions are not changed. */
export class SharedServerConnections implements ConnectionSource {
  readonly size: number;
  /** By the driver's connection, whichever query runner lends it. */
  readonly #sessions = new WeakMap<object, ServerSession>();

  constructor(
    private readonly application: DataSource,
    private readonly driver: ServerDriver,
    private readonly dialect: SqlDialect,
    private readonly clock: Clock,
  ) {
    driver.checkShared(application);
    const { poolSize = OWN_CONNECTIONS } = application.options as { poolSize?: number };
    this.size = Math.min(OWN_CONNECTIONS, poolSize);
  }

  async open(): Promise<SqlConnection> {
    // Never dataSource.query: that one can be caught by an ambient transaction.
    const runner = this.application.createQueryRunner('master');
    return new ServerConnection(runner, this.#sessionOf((await runner.connect()) as object));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #sessionOf(connection: object): ServerSession {
    const known = this.#sessions.get(connection);
    if (known !== undefined) return known;
    const { driver, dialect, clock } = this;
    const session = new ServerSession(connection, { driver, dialect, clock, isShared: true });
    this.#sessions.set(connection, session);
    return session;
  }
}
