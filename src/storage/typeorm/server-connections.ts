import type { DataSource, QueryRunner } from 'typeorm';
import type { Clock } from '../../core';
import { withinLimit } from '../../core/clock';
import type { ConnectionSource, SqlConnection } from '../sql/connections/pooled-sql-executor';
import type { SqlDecide, SqlResult, SqlStatement } from '../sql/connections/sql-executor';
import type { SqlDialect } from '../sql/dialects/sql-dialect';
import { OwnDataSource } from './own-data-source';
import { OWN_CONNECTIONS, SPARE_CONNECTIONS } from './own-data-source-options';
import type { DriverSession, ServerDriver } from './server-driver';
import { ServerSession } from './server-session';

/** Two connections of our own to the application's database, which stay open. Spare ones are closed after use. */
export class OwnServerConnections implements ConnectionSource {
  readonly size = OWN_CONNECTIONS;
  readonly spare = SPARE_CONNECTIONS;
  readonly #dataSource: OwnDataSource;
  readonly #idle: ServerConnection[] = [];
  #isClosed = false;

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
      idle.destroy(); // The server has ended it.
    }
    return this.#connect();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#dataSource.close();
  }

  /** Best effort. If the server does not answer, it may still finish the statement. */
  async #end(abandoned: DriverSession): Promise<void> {
    if (abandoned.endFrom === undefined || this.#isClosed) return;
    const runner = (await this.#dataSource.get()).createQueryRunner('master');
    const other = this.driver.session(await runner.connect());
    other.onEnd(() => {}); // An error without a listener would end the process.
    try {
      await withinLimit(this.clock, abandoned.endFrom(other), this.statementTimeoutMs);
    } finally {
      other.destroy();
      await runner.release();
    }
  }

  #putBack(connection: ServerConnection): void {
    if (this.#idle.length < OWN_CONNECTIONS) this.#idle.push(connection);
    else connection.destroy();
  }

  async #connect(): Promise<SqlConnection> {
    const runner = (await this.#dataSource.get()).createQueryRunner('master');
    const { driver, dialect, clock } = this;
    const onAbandoned = (abandoned: DriverSession): void => void this.#end(abandoned).catch(() => undefined);
    const options = { driver, dialect, clock, isShared: false, onAbandoned };
    const session = new ServerSession(await runner.connect(), options);
    const connection = new ServerConnection(runner, session, (released) => this.#putBack(released));
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

/** For an invalid size, drivers use a default that is larger than we need. */
function poolSizeOf({ options }: DataSource, { poolSizeKey }: ServerDriver): number {
  const { extra, poolSize, replication } = options as PoolOptions;
  // TypeORM merges `extra` last, and the drivers also take a number as text.
  const size = Number(extra?.[poolSizeKey] ?? replication?.master?.poolSize ?? poolSize);
  return size >= 1 ? size : OWN_CONNECTIONS;
}

interface PoolOptions {
  readonly extra?: Readonly<Record<string, unknown>>;
  readonly poolSize?: number;
  readonly replication?: { readonly master?: { readonly poolSize?: number } };
}

/** The application's pool. Its sessions are not changed. */
export class SharedServerConnections implements ConnectionSource {
  readonly size: number;
  /** By the driver's connection, because different query runners can use the same one. */
  readonly #sessions = new WeakMap<object, ServerSession>();

  constructor(
    private readonly application: DataSource,
    private readonly driver: ServerDriver,
    private readonly dialect: SqlDialect,
    private readonly clock: Clock,
  ) {
    driver.checkShared(application);
    this.size = Math.min(OWN_CONNECTIONS, poolSizeOf(application, driver));
  }

  async open(): Promise<SqlConnection> {
    // Not dataSource.query: an ambient transaction could catch it.
    const runner = this.application.createQueryRunner('master');
    return new ServerConnection(runner, this.#sessionOf((await runner.connect()) as object));
  }

  close(): Promise<void> {
    return Promise.resolve();
  }

  #sessionOf(connection: object): ServerSession {
    const existing = this.#sessions.get(connection);
    if (existing !== undefined) return existing;
    const { driver, dialect, clock } = this;
    const session = new ServerSession(connection, { driver, dialect, clock, isShared: true });
    this.#sessions.set(connection, session);
    return session;
  }
}

/** A session, with the query runner of TypeORM that its connection belongs to. */
class ServerConnection implements SqlConnection {
  /** `false` after the server has ended it. */
  isAlive = true;

  /** @param giveBack called to release. Default: the query runner's own release. */
  constructor(
    private readonly runner: QueryRunner,
    private readonly session: ServerSession,
    private readonly giveBack?: (connection: ServerConnection) => void,
  ) {}

  execute(statement: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    return this.session.execute(statement, endsAtMs);
  }

  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, endsAtMs: number): Promise<T> {
    return this.session.transaction(first, decide, endsAtMs);
  }

  rollBack(endsAtMs: number): Promise<boolean> {
    return this.session.rollBack(endsAtMs);
  }

  release(): void {
    if (this.giveBack === undefined) void this.runner.release();
    else this.giveBack(this);
  }

  destroy(): void {
    this.session.destroy();
    void this.runner.release();
  }
}
