export type SqlValue = string | number | null;

/** A statement with its values, which are always bound. */
export interface SqlStatement {
  /** The same for the same text, and for no other: the name of a prepared statement. */
  readonly id: string;
  readonly text: string;
  readonly values: readonly SqlValue[];
}

export interface SqlResult {
  /** What the driver calls affected rows; judged by whoever asked. */
  readonly affectedRows: unknown;
  readonly insertId: unknown;
  readonly rows: readonly Readonly<Record<string, unknown>>[];
}

export interface ExecuteOptions {
  /** Includes the wait for a connection. */
  readonly timeoutMs: number;
  /** Extend, unlock and resolve go before everything else: a lease may depend on them. */
  readonly urgent: boolean;
}

/** What is to become of a transaction, after its first statement. */
export interface SqlDecision<T> {
  readonly value: T;
  readonly statements: readonly SqlStatement[];
}

/** Synchronous and without effects: where a transaction has to begin anew, it is asked again. */
export type SqlDecide<T> = (result: SqlResult) => SqlDecision<T>;

/** The port between the statements and whatever carries them. */
export interface SqlExecutor {
  /** Runs one statement in autocommit mode, on a connection that no transaction of the application uses. */
  execute(statement: SqlStatement, options: ExecuteOptions): Promise<SqlResult>;
  /**
   * Runs one transaction at READ COMMITTED on such a connection: its first statement, then those that are decided on,
   * and its end, also where there are none. When anything fails, `decide` included, it is rolled back.
   *
   * @throws what `decide` threw, as it is
   */
  transaction<T>(first: SqlStatement, decide: SqlDecide<T>, options: ExecuteOptions): Promise<T>;
}

/** What an executor rejects with: the driver's error, and how far the statement came. */
export class SqlExecutionError extends Error {
  constructor(
    message: string,
    readonly progress: 'not-sent' | 'sent' | 'rolled-back',
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'SqlExecutionError';
  }
}

/** What `decide` threw, on its way through whatever carries the transaction. */
export class DecisionError extends Error {
  constructor(readonly thrown: unknown) {
    super('The decision about a transaction threw.');
  }
}

/** @throws DecisionError */
export function decided<T>(decide: SqlDecide<T>, result: SqlResult): SqlDecision<T> {
  try {
    return decide(result);
  } catch (error) {
    throw new DecisionError(error);
  }
}
