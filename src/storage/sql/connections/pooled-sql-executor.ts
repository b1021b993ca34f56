import type { Clock } from '../../../core';
import { withinLimit } from '../../../core/clock';
import { ConnectionGate } from './connection-gate';
import type { SqlDialect } from '../dialects/sql-dialect';
import {
  DecisionError,
  SqlExecutionError,
  type ExecuteOptions,
  type NodeWait,
  type SendInTurn,
  type SqlDecide,
  type SqlExecutor,
  type SqlResult,
  type SqlStatement,
} from './sql-executor';
import { driverErrorOf, leavesConnectionUsable } from './sql-failure';

/**
 * The share of a time limit that a request waits for a connection. A statement with less time could only fail, with an unknown
 * outcome and a lost connection.
 */
const LONGEST_WAIT = 0.75;

/** One connection, for one statement or transaction at a time. */
export interface SqlConnection {
  /** @param endsAtMs on the monotonic clock. The call settles by then and sends nothing afterwards. */
  execute(statement: SqlStatement, endsAtMs: number): Promise<SqlResult>;
  /**
   * As above. After an error the transaction may still be open: call `rollBack` or `destroy`.
   *
   * @throws DecisionError
   */
  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, endsAtMs: number): Promise<T>;
  /** @returns `true` if no transaction is open any more */
  rollBack(endsAtMs: number): Promise<boolean>;
  /** Returns it to its source. */
  release(): void;
  /** Closes it at once, even while a statement runs. */
  destroy(): void;
}

export interface ConnectionSource<Connection extends SqlConnection = SqlConnection> {
  /** How many connections it keeps. */
  readonly size: number;
  /** How many more it opens while statements wait for locked rows. */
  readonly spare?: number;
  /** Known once a connection was opened. */
  readonly nodeWait?: NodeWait | undefined;
  /** For the error of a request that waited in vain. */
  readonly whenFull?: string | undefined;
  /**
   * Returns a connection that is set up and outside a transaction, synchronously if one was used just before.
   *
   * @param limitMs of the request. A check of a connection must leave most of it.
   */
  open(limitMs: number): Connection | Promise<Connection>;
  close(): Promise<void>;
}

/** A connection for more than one statement. */
export interface BorrowedConnection<Connection extends SqlConnection> {
  readonly connection: Connection;
  /** On the monotonic clock. */
  readonly endsAtMs: number;
  /** Call it once. A connection that cannot be used again is destroyed. */
  readonly giveBack: (isUsable: boolean) => void;
}

/**
 * Runs each statement on a connection that the gate admits it to, within one time limit for waiting and running. With
 * `connectionWaitMs`, a statement that has waited gets its whole limit.
 */
export class PooledSqlExecutor<Connection extends SqlConnection = SqlConnection> implements SqlExecutor {
  readonly #gate: ConnectionGate;
  #closed = false;

  constructor(
    private readonly source: ConnectionSource<Connection>,
    private readonly dialect: SqlDialect,
    private readonly clock: Clock,
  ) {
    this.#gate = new ConnectionGate(source, clock);
  }

  get nodeWait(): NodeWait | undefined {
    return this.source.nodeWait;
  }

  isFree(request: Pick<ExecuteOptions, 'urgent' | 'holdsLock'>): boolean {
    return this.#gate.canAdmit(request);
  }

  execute(statement: SqlStatement, options: ExecuteOptions): Promise<SqlResult> {
    return this.#onConnection(options, (connection, endsAtMs) => connection.execute(statement, endsAtMs));
  }

  inTurn<T>(use: (send: SendInTurn) => Promise<T>, options: ExecuteOptions): Promise<T> {
    return this.#onConnection(options, (connection, endsAtMs) =>
      use((statement) => connection.execute(statement, endsAtMs)),
    );
  }

  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, options: ExecuteOptions): Promise<T> {
    return this.#onConnection(options, (connection, endsAtMs) =>
      connection.transaction(first, decide, endsAtMs),
    );
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.source.close();
  }

  /**
   * Returns at once if a connection is free and open.
   *
   * @throws SqlExecutionError if no connection is free, or can be opened, within the limit
   */
  borrow(options: ExecuteOptions): BorrowedConnection<Connection> | Promise<BorrowedConnection<Connection>> {
    if (this.#closed) throw new SqlExecutionError('cronlatch has closed its connections', 'not-sent');
    const nowMs = this.clock.monotonicMs();
    const { sinceMs = nowMs, timeoutMs, connectionWaitMs = 0 } = options;
    const endsAtMs = nowMs + timeoutMs;
    const waitMs = sinceMs + (endsAtMs - sinceMs) * LONGEST_WAIT - nowMs;
    const isPatient = connectionWaitMs > waitMs;
    const wait = this.#gate.enter({ ...options, timeoutMs: isPatient ? connectionWaitMs : waitMs });
    if (wait === undefined) return this.#open(endsAtMs);
    return wait.then(() => this.#open(isPatient ? this.clock.monotonicMs() + timeoutMs : endsAtMs));
  }

  /** Opens a connection for a request that the gate has admitted. */
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

  async #onConnection<T>(
    options: ExecuteOptions,
    use: (connection: Connection, endsAtMs: number) => Promise<T>,
  ): Promise<T> {
    const borrowed = this.borrow(options);
    const { connection, endsAtMs, giveBack } = borrowed instanceof Promise ? await borrowed : borrowed;
    if (borrowed instanceof Promise) options.onSending?.();
    try {
      const answer = await use(connection, endsAtMs);
      giveBack(true);
      return answer;
    } catch (error) {
      giveBack(this.#isHarmless(error) && (await connection.rollBack(endsAtMs)));
      throw error instanceof DecisionError ? error.thrown : executionError(error, 'sent');
    }
  }

  async #opened(opening: Promise<Connection>, endsAtMs: number): Promise<Connection> {
    let late = false;
    try {
      const connection = await withinLimit(this.clock, opening, endsAtMs - this.clock.monotonicMs());
      if (connection !== 'time-out') return connection;
      late = true;
      throw new SqlExecutionError('no connection could be opened within the time limit', 'not-sent');
    } catch (error) {
      // A connection that opens too late returns to its pool. Until then it still counts as taken.
      if (late)
        void opening
          .then(
            (connection) => connection.release(),
            () => undefined,
          )
          .finally(() => this.#gate.leave());
      else this.#gate.leave();
      throw executionError(error, 'not-sent');
    }
  }

  #isHarmless(error: unknown): boolean {
    if (error instanceof DecisionError) return true;
    if (error instanceof SqlExecutionError) return false;
    return leavesConnectionUsable(this.dialect.failureOf(driverErrorOf(error)));
  }
}

function executionError(error: unknown, progress: 'not-sent' | 'sent'): SqlExecutionError {
  if (error instanceof SqlExecutionError) return error;
  return new SqlExecutionError(driverErrorOf(error).message, progress, { cause: error });
}
