import type { Clock } from '../../../core';
import { withinLimit, withinLimitOr } from '../../../core/clock';
import type { ConnectionSource, SqlConnection } from './pooled-sql-executor';
import type { ConnectionPool, DriverSession, OpeningSession, ServerDriver } from './server-driver';
import { ServerSession } from './server-session';

/** One for any statement, and one that is kept for the statements that a lease depends on. */
export const OWN_CONNECTIONS = 2;

/** Additional connections, used while statements wait for rows that other transactions have locked. */
const SPARE_CONNECTIONS = 4;

interface Settings {
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  /** How many connections stay open. Default 2. */
  readonly connections?: number | undefined;
}

/** How connections of our own differ from those for single statements. */
interface OwnConnectionOptions {
  /** How many there are at most. */
  readonly size: number;
  readonly whenFull: string;
  readonly settings: readonly string[];
  readonly prepares: boolean;
  /** A connection that is idle for longer is closed. */
  readonly idleForMs: number;
}

/** An open connection of our own. */
interface Own {
  readonly connection: ServerSession;
  readonly session: DriverSession;
  readonly ended: Promise<void>;
  /** Cancels the end of an idle connection. */
  keep: () => void;
}

/** Connections of our own to the application's database, which stay open. Spare ones are closed after use. */
export class OwnServerConnections implements ConnectionSource<ServerSession> {
  readonly size: number;
  readonly spare: number;
  readonly whenFull: string | undefined;
  readonly #open = new Set<Own>();
  readonly #idle: Own[] = [];
  #isClosed = false;

  /** @param openSession must not throw */
  constructor(
    private readonly driver: ServerDriver,
    private readonly openSession: (limitMs: number) => OpeningSession,
    private readonly settings: Settings,
    private readonly options?: OwnConnectionOptions,
  ) {
    this.size = options?.size ?? settings.connections ?? OWN_CONNECTIONS;
    this.spare = options === undefined ? SPARE_CONNECTIONS : 0;
    this.whenFull = options?.whenFull;
  }

  open(): ServerSession | Promise<ServerSession> {
    for (let idle = this.#idle.pop(); idle !== undefined; idle = this.#idle.pop()) {
      idle.keep();
      if (this.#open.has(idle)) return idle.connection;
    }
    return this.#connect();
  }

  /** A server that does not answer cannot delay it for longer than a statement. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const { session, keep } of this.#idle.splice(0)) {
      keep();
      session.end();
    }
    const ended = Promise.all([...this.#open].map((own) => own.ended));
    await withinLimit(this.settings.clock, ended, this.settings.statementTimeoutMs);
    for (const { session } of this.#open) session.destroy();
  }

  async #connect(): Promise<ServerSession> {
    const { driver, options } = this;
    const { clock, statementTimeoutMs } = this.settings;
    const session = await this.#opened();
    const onAbandoned = (abandoned: DriverSession): void => void this.#end(abandoned).catch(() => undefined);
    const connection = new ServerSession(session, {
      driver,
      clock,
      isShared: false,
      onAbandoned,
      prepares: options?.prepares,
    });
    const ended = new Promise<void>((resolve) => session.onEnd(resolve));
    const own: Own = { connection, session, ended, keep: () => {} };
    this.#open.add(own);
    void ended.then(() => {
      this.#open.delete(own);
      connection.onEnd();
    });
    try {
      for (const text of options?.settings ?? driver.sessionSettings(statementTimeoutMs))
        await connection.run(text, clock.monotonicMs() + statementTimeoutMs);
      return connection.lend((isUsable) => (isUsable ? this.#putBack(own) : this.#open.delete(own)));
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  async #opened(): Promise<DriverSession> {
    const { clock, statementTimeoutMs } = this.settings;
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
      await withinLimit(this.settings.clock, abandoned.endFrom(other), this.settings.statementTimeoutMs);
    } finally {
      other.destroy();
    }
  }

  #putBack(own: Own): void {
    if (this.#isClosed || this.#idle.length >= this.size) return own.session.end();
    this.#idle.push(own);
    if (this.options === undefined) return;
    const end = (): void => {
      this.#idle.splice(this.#idle.indexOf(own), 1);
      own.session.end();
    };
    own.keep = this.settings.clock.schedule(this.options.idleForMs, end, { keepAlive: false });
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
