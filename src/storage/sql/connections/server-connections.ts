import type { Clock } from '../../../core';
import { withinLimit, withinLimitOr } from '../../../core/clock';
import type { ConnectionSource, SqlConnection } from './pooled-sql-executor';
import type { ConnectionPool, DriverSession, OpeningSession, ServerDriver } from './server-driver';
import { ServerSession } from './server-session';

/** One for any statement, and one that is kept for the statements that a lease depends on. */
const OWN_CONNECTIONS = 2;

/** Additional connections, used while statements wait for rows that other transactions have locked. */
const SPARE_CONNECTIONS = 4;

interface Limits {
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
}

/** An open connection of our own. */
interface Own {
  readonly connection: ServerSession;
  readonly session: DriverSession;
  readonly ended: Promise<void>;
}

/** Two connections of our own to the application's database, which stay open. Spare ones are closed after use. */
export class OwnServerConnections implements ConnectionSource {
  readonly size = OWN_CONNECTIONS;
  readonly spare = SPARE_CONNECTIONS;
  readonly #open = new Set<Own>();
  readonly #idle: Own[] = [];
  #isClosed = false;

  /** @param openSession must not throw */
  constructor(
    private readonly driver: ServerDriver,
    private readonly openSession: (limitMs: number) => OpeningSession,
    private readonly limits: Limits,
  ) {}

  open(): SqlConnection | Promise<SqlConnection> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      if (this.#open.has(idle)) return idle.connection;
    }
    return this.#connect();
  }

  /** A server that does not answer cannot delay it for longer than a statement. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { session } of this.#idle.splice(0)) session.end();
    const ended = Promise.all([...this.#open].map((own) => own.ended));
    await withinLimit(this.limits.clock, ended, this.limits.statementTimeoutMs);
    for (const { session } of this.#open) session.destroy();
  }

  async #connect(): Promise<SqlConnection> {
    const { driver } = this;
    const { clock, statementTimeoutMs } = this.limits;
    const session = await this.#opened();
    const onAbandoned = (abandoned: DriverSession): void => void this.#end(abandoned).catch(() => undefined);
    const connection = new ServerSession(session, { driver, clock, isShared: false, onAbandoned });
    const ended = new Promise<void>((resolve) => session.onEnd(resolve));
    const own: Own = { connection, session, ended };
    this.#open.add(own);
    void ended.then(() => this.#open.delete(own));
    try {
      for (const text of driver.sessionSettings(statementTimeoutMs))
        await connection.run(text, clock.monotonicMs() + statementTimeoutMs);
      return connection.lend((isUsable) => (isUsable ? this.#putBack(own) : this.#open.delete(own)));
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  async #opened(): Promise<DriverSession> {
    const { clock, statementTimeoutMs } = this.limits;
    const { session, opened } = this.openSession(statementTimeoutMs);
    session.onEnd(() => {}); // An error without a listener would end the process.
    const timeoutError = (): Error =>
      new Error(`the database did not answer within ${statementTimeoutMs} ms`);
    try {
      await withinLimitOr(clock, opened, statementTimeoutMs, timeoutError);
      return session;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  /** Best effort. If the server does not answer, it may still finish the statement. */
  async #end(abandoned: DriverSession): Promise<void> {
    if (abandoned.endFrom === undefined || this.#isClosed) return;
    const other = await this.#opened();
    try {
      await withinLimit(this.limits.clock, abandoned.endFrom(other), this.limits.statementTimeoutMs);
    } finally {
      other.destroy();
    }
  }

  #putBack(own: Own): void {
    if (!this.#isClosed && this.#idle.length < OWN_CONNECTIONS) this.#idle.push(own);
    else own.session.end();
  }
}

/** The application's pool. Its sessions are not changed. */
export class SharedServerConnections implements ConnectionSource {
  readonly size: number;
  readonly #connections = new WeakMap<DriverSession, ServerSession>();

  constructor(
    private readonly driver: ServerDriver,
    private readonly pool: ConnectionPool,
    private readonly clock: Clock,
  ) {
    this.size = Math.min(OWN_CONNECTIONS, pool.size);
  }

  async open(): Promise<SqlConnection> {
    const borrowed = await this.pool.borrow();
    const { session } = borrowed;
    const { driver, clock } = this;
    const connection =
      this.#connections.get(session) ?? new ServerSession(session, { driver, clock, isShared: true });
    this.#connections.set(session, connection);
    return connection.lend(() => borrowed.release());
  }

  close(): Promise<void> {
    return Promise.resolve();
  }
}
