import type { Clock } from '../../../core';
import { withinLimit } from '../../../core/clock';
import type { SqlDialect } from '../dialects/sql-dialect';
import {
  DecisionError,
  SqlExecutionError,
  type ConnectionSource,
  type Limit,
  type NodeWait,
  type Priority,
  type SqlConnection,
  type SqlSession,
} from '../statements/statement';
import { driverErrorOf, HARMLESS } from '../statements/sql-failure';

/**
 * The share of a time limit that a request waits for a connection. With less time, a statement could only fail, with an
 * unknown outcome and a lost connection.
 */
const LONGEST_WAIT = 0.75;

/** A statement that does not wait for a locked row is far quicker. */
const STALLED_AFTER_MS = 200;

/** A timer that is so late shows that the process itself was busy. */
const BUSY_FOR_MS = 100;

/** A connection for more than one statement. */
export interface BorrowedConnection<Connection extends SqlConnection> {
  readonly connection: Connection;
  /** On the monotonic clock. */
  readonly endsAtMs: number;
  /** Call it once. A connection that cannot be used again is destroyed. */
  readonly giveBack: (isUsable: boolean) => void;
}

/** Lends the connections to a database, each to one request at a time. */
export class Connections<Connection extends SqlConnection = SqlConnection> {
  readonly #gate: ConnectionGate;
  #closed = false;

  constructor(
    private readonly source: ConnectionSource<Connection>,
    private readonly dialect: SqlDialect,
    private readonly clock: Clock,
  ) {
    this.#gate = new ConnectionGate(source, clock);
  }

  /** Set if the server is in a cluster whose nodes all accept writes. Known after the first statement. */
  get nodeWait(): NodeWait | undefined {
    return this.source.nodeWait;
  }

  isFree(priority?: Priority): boolean {
    return this.#gate.canAdmit(priority);
  }

  /**
   * Calls `use` as soon as there is a connection for it, and lends it that until its promise settles.
   *
   * @throws SqlExecutionError, or the error of a transaction's `decide`, unchanged
   */
  async run<T>(use: (session: SqlSession, endsAtMs: number) => Promise<T>, limit: Limit): Promise<T> {
    const borrowed = this.borrow(limit);
    const { connection, endsAtMs, giveBack } = borrowed instanceof Promise ? await borrowed : borrowed;
    if (borrowed instanceof Promise) limit.onSending?.();
    try {
      const answer = await use(connection, endsAtMs);
      giveBack(true);
      return answer;
    } catch (error) {
      giveBack(this.#isHarmless(error) && (await connection.rollBack(endsAtMs)));
      throw error instanceof DecisionError ? error.thrown : executionError(error, 'sent');
    }
  }

  /**
   * Returns at once if a connection is free and open.
   *
   * @throws SqlExecutionError if no connection is free, or can be opened, within the limit
   */
  borrow(limit: Limit): BorrowedConnection<Connection> | Promise<BorrowedConnection<Connection>> {
    if (this.#closed) throw new SqlExecutionError('cronlatch has closed its connections', 'not-sent');
    const endsAtMs = this.#gate.enter(limit);
    return typeof endsAtMs === 'number' ? this.#open(endsAtMs) : endsAtMs.then((endMs) => this.#open(endMs));
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.source.close?.();
  }

  #open(endsAtMs: number): BorrowedConnection<Connection> | Promise<BorrowedConnection<Connection>> {
    if (this.#closed) {
      this.#gate.leave();
      throw new SqlExecutionError(
        'cronlatch closed its connections while the statement waited for one',
        'not-sent',
      );
    }
    const lend = (connection: Connection): BorrowedConnection<Connection> => ({
      connection,
      endsAtMs,
      giveBack: (isUsable) => {
        if (isUsable) connection.release();
        else connection.destroy();
        this.#gate.leave();
      },
    });
    const opened = this.source.open(endsAtMs - this.clock.monotonicMs());
    return opened instanceof Promise ? this.#opened(opened, endsAtMs).then(lend) : lend(opened);
  }

  async #opened(opening: Promise<Connection>, endsAtMs: number): Promise<Connection> {
    const limited = withinLimit(this.clock, opening, endsAtMs - this.clock.monotonicMs());
    const connection = await limited.catch((error: unknown) => {
      this.#gate.leave();
      throw executionError(error, 'not-sent');
    });
    if (connection !== 'time-out') return connection;
    // A connection that opens too late returns to its pool. Until then it still counts as taken.
    const returned = opening.then(
      (late) => late.release(),
      () => undefined,
    );
    void returned.finally(() => this.#gate.leave());
    throw executionError(new Error('no connection could be opened within the time limit'), 'not-sent');
  }

  #isHarmless(error: unknown): boolean {
    if (error instanceof DecisionError) return true;
    if (error instanceof SqlExecutionError) return false;
    return HARMLESS.has(this.dialect.failureOf(driverErrorOf(error)));
  }
}

function executionError(error: unknown, progress: 'not-sent' | 'sent'): SqlExecutionError {
  if (error instanceof SqlExecutionError) return error;
  return new SqlExecutionError(driverErrorOf(error).message, progress, { cause: error });
}

interface Waiter {
  readonly sinceMs: number;
  readonly admit: () => void;
}

/**
 * Decides which request gets the next connection: by priority, and then in the order of arrival. If there are at least two
 * connections, only requests that a lease depends on take the last free one.
 *
 * A statement that waits for a locked row keeps its connection for seconds. So if no request was admitted for a while, the
 * next one borrows a spare connection, which is returned as soon as no request waits. A long queue of quick statements
 * borrows nothing.
 */
export class ConnectionGate {
  readonly #queues = { lease: new Set<Waiter>(), holder: new Set<Waiter>(), other: new Set<Waiter>() };
  readonly #inOrder = Object.values(this.#queues);
  readonly #keptFree: number;
  #free: number;
  #spare: number;
  #borrowed = 0;
  #admittedAtMs = 0;
  #cancelWatch: (() => void) | undefined;

  constructor(
    private readonly source: Pick<ConnectionSource, 'size' | 'spare' | 'whenFull'>,
    private readonly clock: Clock,
  ) {
    this.#free = source.size;
    this.#spare = source.spare ?? 0;
    this.#keptFree = source.size >= 2 ? 1 : 0;
  }

  /**
   * Takes a connection. Call `leave` once when it is free again.
   *
   * @returns when the request's time ends, a promise only if it has to wait
   * @throws SqlExecutionError with progress `not-sent` if no connection was free within the limit
   */
  enter(limit: Limit): number | Promise<number> {
    if (!this.canAdmit(limit.priority)) return this.#wait(limit);
    this.#free -= 1;
    return this.clock.monotonicMs() + limit.timeoutMs;
  }

  leave(): void {
    if (this.#borrowed > 0 && !this.#isWaitedFor) {
      this.#borrowed -= 1;
      this.#spare += 1;
      return;
    }
    this.#free += 1;
    this.#serve();
  }

  /** Whether a request would get a connection at once. No request overtakes a waiting one of the same kind. */
  canAdmit(priority?: Priority): boolean {
    const queue = this.#queueOf(priority);
    const isFirst = queue === this.#queues.lease ? queue.size === 0 : !this.#isWaitedFor;
    return isFirst && this.#isFreeFor(queue);
  }

  get #isWaitedFor(): boolean {
    return this.#inOrder.some((queue) => queue.size > 0);
  }

  #isFreeFor(queue: Set<Waiter>): boolean {
    return this.#free > (queue === this.#queues.lease ? 0 : this.#keptFree);
  }

  #queueOf(priority: Priority = 'other'): Set<Waiter> {
    const { lease, holder } = this.#queues;
    if (priority === 'release') return holder.size > 0 ? holder : lease;
    return this.#queues[priority];
  }

  #wait({ timeoutMs, connectionWaitMs = 0, priority, sinceMs }: Limit): Promise<number> {
    const nowMs = this.clock.monotonicMs();
    const beganMs = sinceMs ?? nowMs;
    const endsAtMs = nowMs + timeoutMs;
    const shareMs = beganMs + (endsAtMs - beganMs) * LONGEST_WAIT - nowMs;
    const waitMs = Math.max(shareMs, connectionWaitMs);
    return new Promise((resolve, reject) => {
      const queue = this.#queueOf(priority);
      const expire = (): void => {
        queue.delete(waiter);
        if (!this.#isWaitedFor) this.#stopWatching();
        const { whenFull } = this.source;
        const waitedMs = Math.round(waitMs + nowMs - beganMs);
        reject(
          new SqlExecutionError(
            `no connection was free within ${waitedMs} ms${whenFull === undefined ? '' : `: ${whenFull}`}`,
            'not-sent',
          ),
        );
      };
      const cancel = this.clock.schedule(waitMs, expire, { keepAlive: true });
      const waiter: Waiter = {
        sinceMs: beganMs,
        admit: () => {
          cancel();
          // With `connectionWaitMs`, a request that has waited gets its whole limit.
          resolve(connectionWaitMs > shareMs ? this.clock.monotonicMs() + timeoutMs : endsAtMs);
        },
      };
      if (!this.#isWaitedFor) this.#admittedAtMs = nowMs;
      const later = sinceMs === undefined ? [] : [...queue].filter((each) => each.sinceMs > sinceMs);
      for (const each of [waiter, ...later]) {
        queue.delete(each);
        queue.add(each);
      }
      this.#watch();
    });
  }

  #watch(): void {
    if (this.#cancelWatch !== undefined || this.#spare === 0) return;
    const beganMs = this.clock.monotonicMs();
    const inMs = this.#admittedAtMs + STALLED_AFTER_MS - beganMs;
    const onTime = (): void => {
      this.#cancelWatch = undefined;
      const nowMs = this.clock.monotonicMs();
      // Then the answers may have arrived, but nothing has read them yet.
      if (nowMs - beganMs - inMs >= BUSY_FOR_MS) this.#admittedAtMs = nowMs;
      else if (nowMs - this.#admittedAtMs >= STALLED_AFTER_MS) this.#borrow();
      if (this.#isWaitedFor) this.#watch();
    };
    this.#cancelWatch = this.clock.schedule(inMs, onTime, { keepAlive: false });
  }

  #stopWatching(): void {
    this.#cancelWatch?.();
    this.#cancelWatch = undefined;
  }

  #borrow(): void {
    this.#spare -= 1;
    this.#borrowed += 1;
    this.#free += 1;
    this.#serve();
  }

  #serve(): void {
    for (let next = this.#next(); next !== undefined; next = this.#next()) {
      this.#free -= 1;
      next.admit();
    }
    if (!this.#isWaitedFor) this.#stopWatching();
  }

  #next(): Waiter | undefined {
    const queue = this.#inOrder.find(({ size }) => size > 0);
    const [waiter] = queue ?? [];
    if (queue === undefined || waiter === undefined || !this.#isFreeFor(queue)) return undefined;
    queue.delete(waiter);
    const { lease, holder, other } = this.#queues;
    // Requests of leases that are admitted do not show that the others progress.
    if (queue !== lease || holder.size + other.size === 0) this.#admittedAtMs = this.clock.monotonicMs();
    return waiter;
  }
}
