import type { Clock } from '../../../core';
import { withinLimit, withinLimitOr } from '../../../core/clock';
import { ProxyCheck, type Ask } from './proxy-check';
import type { DriverSession, OpeningSession, ServerDriver } from './server-driver';
import type { ConnectionSource, NodeWait } from '../statements/statement';
import { ServerSession } from './server-session';

/** One for any statement, and one that is kept for the statements that a lease depends on. */
export const OWN_CONNECTIONS = 2;

/** Additional connections, used while statements wait for rows that other transactions have locked. */
const SPARE_CONNECTIONS = 4;

/** An idle connection is closed after this time. One stays, so that the next tick need not open one. */
const IDLE_MS = 60_000;

/**
 * A firewall can drop an idle connection silently. The first statement would then wait for its whole time limit, and leave
 * no time for a second one. So a connection that was idle for this long is probed first. Not longer than the usual limit:
 * after a statement without an answer, the other connections are probed, too.
 */
const TRUSTED_MS = 5000;

const LONGEST_PROBE_MS = 1000;

export interface ConnectionSettings {
  readonly clock: Clock;
  readonly statementTimeoutMs: number;
  readonly warn: (message: string) => void;
  /** How many connections of our own to a server stay open. Default 2. */
  readonly connections?: number | undefined;
}

interface Own {
  readonly connection: ServerSession;
  readonly session: DriverSession;
  readonly ended: Promise<void>;
  /** On the monotonic clock. */
  idleSinceMs: number;
}

/** Connections of our own to the application's database, which stay open. Spare ones are closed after use. */
export class OwnServerConnections implements ConnectionSource<ServerSession> {
  readonly size: number;
  readonly spare: number;
  readonly whenFull: string | undefined;
  readonly #proxies: ProxyCheck;
  /** Whether a pooler shares the server's sessions. `undefined`: no session has asked yet. */
  #isPooled: Promise<boolean> | undefined;
  readonly #open = new Set<Own>();
  /** The one that was used last is the last. */
  readonly #idle: Own[] = [];
  #cancelWatch: (() => void) | undefined;
  #isClosed = false;

  /** `openSession` must not throw, and ends within the limit. */
  constructor(
    private readonly driver: ServerDriver,
    private readonly openSession: (limitMs: number) => OpeningSession | Promise<OpeningSession>,
    private readonly settings: ConnectionSettings,
    private readonly options?: {
      readonly size: number;
      readonly whenFull: string;
      readonly settings: readonly string[];
      readonly idleForMs: number;
    },
  ) {
    this.size = options?.size ?? settings.connections ?? OWN_CONNECTIONS;
    this.spare = options === undefined ? SPARE_CONNECTIONS : 0;
    this.whenFull = options?.whenFull;
    this.#proxies = new ProxyCheck(driver, settings.warn);
  }

  get nodeWait(): NodeWait | undefined {
    return this.#proxies.nodeWait;
  }

  open(limitMs: number): ServerSession | Promise<ServerSession> {
    for (let own = this.#idle.pop(); own !== undefined; own = this.#idle.pop()) {
      const idleMs = this.settings.clock.monotonicMs() - own.idleSinceMs;
      if (idleMs < (this.options?.idleForMs ?? TRUSTED_MS)) return own.connection;
      if (this.options === undefined) return this.#probed(own, limitMs);
      own.connection.destroy(); // The process was stopped, so the server may have ended it.
    }
    return this.#connect();
  }

  /** A server that does not answer cannot delay it for longer than a statement. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#cancelWatch?.();
    for (const { session } of this.#idle.splice(0)) session.end();
    const ended = Promise.all([...this.#open].map((own) => own.ended));
    await withinLimit(this.settings.clock, ended, this.settings.statementTimeoutMs);
    for (const { session } of this.#open) session.destroy();
  }

  async #connect(): Promise<ServerSession> {
    const { driver, options } = this;
    const { clock } = this.settings;
    const session = await this.#opened();
    const onAbandoned = (abandoned: DriverSession): void => void this.#end(abandoned).catch(() => undefined);
    const prepares = options === undefined;
    const connection = new ServerSession(session, { driver, clock, onAbandoned, prepares });
    const ended = new Promise<void>((resolve) => session.onEnd(resolve));
    const own: Own = { connection, session, ended, idleSinceMs: 0 };
    this.#open.add(own);
    void ended.then(() => {
      this.#forget(own);
      connection.onEnd();
    });
    try {
      await this.#setUp(connection, session);
      connection.giveBack = (isUsable) => (isUsable ? this.#putBack(own) : this.#forget(own));
      return connection;
    } catch (error) {
      session.destroy();
      throw error;
    }
  }

  /** Lends the connection if it answers. Otherwise no statement was sent, so another connection serves the request. */
  async #probed(own: Own, limitMs: number): Promise<ServerSession> {
    const probe = { id: '', text: this.driver.probe, values: [] };
    const answered = own.session.send(probe, { prepared: false }).then(
      () => true,
      () => false,
    );
    const longestMs = Math.min(LONGEST_PROBE_MS, limitMs / 4);
    if ((await withinLimit(this.settings.clock, answered, longestMs)) === true) return own.connection;
    // Those that were idle for longer are probably gone, too.
    const others = this.#idle.filter(({ idleSinceMs }) => idleSinceMs <= own.idleSinceMs);
    for (const { connection } of [own, ...others]) connection.destroy();
    return await this.open(limitMs);
  }

  async #setUp(connection: ServerSession, session: DriverSession): Promise<void> {
    const { driver, options } = this;
    const ask = askOn(connection, this.settings);
    if (options !== undefined) {
      for (const text of options.settings) await ask(text);
      return;
    }
    const variables = await this.#proxies.read(ask);
    const isDirect = session.id === undefined || String(session.id) === String(variables['session_id']);
    if (!driver.setsPooledSessions && !isDirect && (await this.#findPooler(ask))) return;
    for (const text of driver.sessionSettings(this.settings.statementTimeoutMs, variables)) await ask(text);
    await this.#proxies.waitForNode(ask);
    if (driver.setsPooledSessions && !isDirect) await this.#findPooler(ask);
  }

  /** Asks once, because a session of its own is opened for it. */
  #findPooler(ask: Ask): Promise<boolean> {
    const { driver, settings } = this;
    this.#isPooled ??= this.#besides((other) => {
      const beside = new ServerSession(other, { driver, clock: settings.clock });
      return this.#proxies.findPooler(ask, askOn(beside, settings));
    }).catch((error: unknown) => {
      this.#isPooled = undefined;
      throw error;
    });
    return this.#isPooled;
  }

  async #opened(): Promise<DriverSession> {
    const { clock, statementTimeoutMs } = this.settings;
    const { session, opened } = await this.openSession(statementTimeoutMs);
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
    const { clock, statementTimeoutMs } = this.settings;
    await this.#besides(async (other) => {
      await withinLimit(clock, abandoned.endFrom?.(other) ?? Promise.resolve(), statementTimeoutMs);
    });
  }

  async #besides<T>(use: (other: DriverSession) => Promise<T>): Promise<T> {
    const other = await this.#opened();
    try {
      return await use(other);
    } finally {
      other.destroy();
    }
  }

  #putBack(own: Own): void {
    if (this.#isClosed || this.#idle.length >= this.size) return own.session.end();
    own.idleSinceMs = this.settings.clock.monotonicMs();
    this.#idle.push(own);
    this.#watchIdle();
  }

  #forget(own: Own): void {
    this.#open.delete(own);
    const place = this.#idle.indexOf(own);
    if (place >= 0) this.#idle.splice(place, 1);
  }

  /** Closes the connections that were idle for too long, one after the other. */
  #watchIdle(): void {
    const { clock } = this.settings;
    const idleForMs = this.options?.idleForMs ?? IDLE_MS;
    const [longest] = this.#idle;
    const stays = this.options === undefined ? 1 : 0;
    if (this.#cancelWatch !== undefined || longest === undefined || this.#idle.length <= stays) return;
    const onTime = (): void => {
      this.#cancelWatch = undefined;
      if (this.#idle[0] === longest && clock.monotonicMs() - longest.idleSinceMs >= idleForMs)
        this.#idle.shift()?.session.end();
      this.#watchIdle();
    };
    const inMs = longest.idleSinceMs + idleForMs - clock.monotonicMs();
    this.#cancelWatch = clock.schedule(inMs, onTime, { keepAlive: false });
  }
}

function askOn(connection: ServerSession, { clock, statementTimeoutMs }: ConnectionSettings): Ask {
  return async (text) => (await connection.run(text, clock.monotonicMs() + statementTimeoutMs)).rows;
}
