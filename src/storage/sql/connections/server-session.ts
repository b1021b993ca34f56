import type { Clock } from '../../../core';
import { withinLimitOr } from '../../../core/clock';
import {
  runDecide,
  DecisionError,
  SqlExecutionError,
  type SqlConnection,
  type SqlDecide,
  type SqlResult,
  type SqlStatement,
} from '../statements/statement';
import { driverErrorOf } from '../statements/sql-failure';
import type { DriverSession, ServerDriver } from './server-driver';

export class ServerSession implements SqlConnection {
  #prepares: boolean;
  #isOpen = false;

  constructor(
    private readonly session: DriverSession,
    private readonly options: {
      readonly driver: ServerDriver;
      readonly clock: Clock;
      /** Called when cronlatch stops waiting for a statement that the server may still run. */
      readonly onAbandoned?: (session: DriverSession) => void;
      /** `false`: all statements are sent as text. */
      readonly prepares?: boolean;
    },
  ) {
    this.#prepares = options.prepares ?? true;
  }

  onEnd: () => void = () => {};

  /** Called when the connection is released, or was destroyed and cannot be used again. */
  giveBack: (isUsable: boolean) => void = () => {};

  /** Sends the statement prepared. If preparing is refused, nothing ran, and it and all later ones are sent unprepared. */
  execute(statement: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    const sendText = (error: unknown): Promise<SqlResult> => {
      if (!this.#stopsPreparing(error)) throw error;
      return this.#send(statement, endsAtMs).then(outsideTransaction);
    };
    return this.#send(statement, endsAtMs).then(outsideTransaction, sendText);
  }

  async run(text: string, endsAtMs: number): Promise<SqlResult> {
    return outsideTransaction(await this.#sendText(text, endsAtMs));
  }

  async transaction<T>(first: SqlStatement, decide: SqlDecide<T>, endsAtMs: number): Promise<T> {
    try {
      return await this.#transact(first, decide, endsAtMs);
    } catch (error) {
      // The refusal may have failed the whole transaction, so start it again.
      if (!this.#stopsPreparing(error) || !(await this.rollBack(endsAtMs))) throw error;
      return await this.#transact(first, decide, endsAtMs);
    }
  }

  /** Begins a transaction that stays open until `commit`, `rollBack` or `destroy`. */
  async begin(text: string, endsAtMs: number): Promise<void> {
    this.#isOpen = true;
    const begun = await this.#uncommitted(() => this.#sendText(text, endsAtMs));
    if (begun.inTransaction === false)
      throw new SqlExecutionError('the connection did not begin a transaction', 'rolled-back');
  }

  /** Sends a statement in the open transaction. An error leaves the transaction open. */
  async sendInside(statement: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    const answer = await this.#uncommitted(() => this.#send(statement, endsAtMs));
    if (answer.inTransaction !== false) return answer;
    throw new SqlExecutionError('the connection did not stay inside its transaction', 'sent');
  }

  /** Checks that the transaction is still open. */
  async ping(endsAtMs: number): Promise<void> {
    await this.sendInside({ id: '', text: this.options.driver.probe, values: [] }, endsAtMs);
  }

  async commit(endsAtMs: number): Promise<void> {
    const { inTransaction } = await this.#sendText(this.options.driver.commit, endsAtMs);
    if (inTransaction)
      throw new SqlExecutionError('the connection was still inside a transaction after COMMIT', 'sent');
    this.#isOpen = false;
  }

  /** @returns `true` if no transaction begun by `transaction` or `begin` is open any more */
  async rollBack(endsAtMs: number): Promise<boolean> {
    if (!this.#isOpen) return true;
    try {
      await this.run(this.options.driver.rollBack, endsAtMs);
      this.#isOpen = false;
      return true;
    } catch {
      return false; // The caller reports the first error, and destroys the connection.
    }
  }

  release(): void {
    this.giveBack(true);
  }

  destroy(): void {
    this.session.destroy();
    this.giveBack(false);
  }

  async #transact<T>(first: SqlStatement, decide: SqlDecide<T>, endsAtMs: number): Promise<T> {
    await this.begin(this.options.driver.begin, endsAtMs);
    const { value, statements } = runDecide(decide, await this.sendInside(first, endsAtMs));
    for (const statement of statements) await this.sendInside(statement, endsAtMs);
    await this.commit(endsAtMs);
    return value;
  }

  /** Before COMMIT is sent, no statement takes effect, even if its own outcome is unknown. */
  async #uncommitted(send: () => Promise<SqlResult>): Promise<SqlResult> {
    try {
      return await send();
    } catch (error) {
      const failure = driverErrorOf(error);
      const isOfDriver = !(error instanceof SqlExecutionError);
      if (isOfDriver && this.options.driver.dialect.failureOf(failure) !== 'unknown') throw error;
      throw new SqlExecutionError(failure.message, 'rolled-back', { cause: error });
    }
  }

  #stopsPreparing(error: unknown): boolean {
    if (!this.#prepares || error instanceof SqlExecutionError || error instanceof DecisionError) return false;
    const isRefused = this.options.driver.dialect.refusesPreparing(driverErrorOf(error));
    if (isRefused) this.#prepares = false;
    return isRefused;
  }

  #sendText(text: string, endsAtMs: number): Promise<SqlResult> {
    return this.#send({ id: '', text, values: [] }, endsAtMs);
  }

  #send(statement: SqlStatement, endsAtMs: number): Promise<SqlResult> {
    const { clock, onAbandoned } = this.options;
    const limitMs = endsAtMs - clock.monotonicMs();
    if (limitMs <= 0)
      throw new SqlExecutionError('its time limit passed before it could be sent', 'not-sent');
    // The server may still run the statement. The caller destroys the connection, so no other statement gets its answer.
    const timeoutError = (): Error => {
      onAbandoned?.(this.session);
      return new SqlExecutionError(`the database did not answer within ${Math.round(limitMs)} ms`, 'sent');
    };
    const prepared = this.#prepares && statement.id !== '';
    return withinLimitOr(clock, this.session.send(statement, { prepared }), limitMs, timeoutError);
  }
}

function outsideTransaction(answer: SqlResult): SqlResult {
  if (!answer.inTransaction) return answer;
  throw new SqlExecutionError(
    'the connection was left inside a transaction, which is now rolled back',
    'rolled-back',
  );
}
