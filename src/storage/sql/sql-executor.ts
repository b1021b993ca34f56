/** A statement with its values, which are always bound. */
export interface SqlStatement {
  readonly text: string;
  readonly values: readonly (string | number)[];
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

/** The port between the statements and whatever carries them. */
export interface SqlExecutor {
  /** Runs one statement in autocommit mode, on a connection that no transaction of the application uses. */
  execute(statement: SqlStatement, options: ExecuteOptions): Promise<SqlResult>;
  close(): Promise<void>;
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
