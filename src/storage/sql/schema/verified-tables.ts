import { LockStorageError, SchemaMismatchError } from '../../../core';
import {
  SqlExecutionError,
  type ExecuteOptions,
  type SendInTurn,
  type SqlDecide,
  type SqlExecutor,
  type SqlResult,
  type SqlStatement,
} from '../connections/sql-executor';
import { driverErrorOf } from '../connections/sql-failure';
import { translateDriverError } from '../connections/storage-error';
import { inspectionOf, readTable, type InspectedTable } from './inspected-table';
import { isUsable, type SchemaFinding } from './schema-finding';
import type { TableDefinition } from './table-definition';
import { verifyTable, type VerificationContext } from './verify-table';

/** What the statements on any of the library's tables need. */
export interface SqlTablesOptions extends VerificationContext {
  readonly executor: SqlExecutor;
  /** The database that the connections begin in, if the DataSource names it. */
  readonly database: string | undefined;
  /** Removes secrets from a driver's message. */
  readonly redact: (message: string) => string;
  /** Why the opened database can no longer be used. `undefined` if it can. */
  readonly findLoss?: (() => Error | undefined) | undefined;
  /** Called once for each finding that is a warning. */
  readonly warn: (message: string) => void;
}

/**
 * Verifies the library's tables before the first statement, and again after one turns out to have changed. Sends the
 * statements, and translates their errors.
 */
export class VerifiedTables<Statements> {
  readonly #warned = new Set<string>();
  #statements: Statements | undefined;
  #verifying: Promise<Statements> | undefined;

  /**
   * @param definitions errors name the first table
   * @param statementsFor builds the statements for the tables that were found, if no finding is an error
   */
  constructor(
    private readonly options: SqlTablesOptions,
    private readonly definitions: readonly [TableDefinition, ...TableDefinition[]],
    private readonly statementsFor: (found: readonly InspectedTable[]) => Statements | undefined,
  ) {}

  /** `undefined` until the tables were verified. */
  get verified(): Statements | undefined {
    return this.#statements;
  }

  /**
   * Verifies the tables first if necessary.
   *
   * @throws as `check` does
   */
  async statements(options: ExecuteOptions): Promise<Statements> {
    return this.#statements ?? (await this.check(options));
  }

  /** @throws SchemaMismatchError listing every problem of the tables with its fix */
  async check(options: ExecuteOptions): Promise<Statements> {
    this.#verifying ??= this.#verifyForUse(options).finally(() => (this.#verifying = undefined));
    return await this.#verifying;
  }

  async verify(options: ExecuteOptions): Promise<readonly SchemaFinding[]> {
    const { dialect, database } = this.options;
    const locations = this.definitions.map(({ path }) => ({ path, database }));
    const { rows } = await this.execute(inspectionOf(locations, dialect), options);
    const tables = this.definitions.map((definition, number) => {
      const found = readTable(rows, number, dialect);
      return { found, findings: verifyTable(definition, found, this.options) };
    });
    const findings = tables.flatMap((table) => table.findings);
    this.#statements = isUsable(findings) ? this.statementsFor(tables.map(({ found }) => found)) : undefined;
    return findings;
  }

  /** @param subject what the statement is about, such as `lock 'job'`. Default: the table. */
  async execute(statement: SqlStatement, options: ExecuteOptions, subject?: string): Promise<SqlResult> {
    try {
      return await this.options.executor.execute(statement, options);
    } catch (error) {
      throw this.failureOf(error, subject);
    }
  }

  /** Sends one of the statements on these tables, and returns its answer and all of them. */
  async send(
    statement: (of: Statements) => SqlStatement,
    options: ExecuteOptions,
    subject?: string,
  ): Promise<{ readonly result: SqlResult; readonly statements: Statements }> {
    const statements = this.#statements ?? (await this.check(options));
    const bound = statement(statements);
    try {
      return { result: await this.options.executor.execute(bound, options), statements };
    } catch (error) {
      throw this.failureOf(error, subject);
    }
  }

  /** Until the tables were verified, no request gets a connection at once. */
  isFree(request: Pick<ExecuteOptions, 'urgent' | 'holdsLock'>): boolean {
    return this.#statements !== undefined && this.options.executor.isFree(request);
  }

  /** Calls `use` as soon as there is a connection for it. Its errors need `failureOf`. */
  async inTurn<T>(
    use: (send: SendInTurn, statements: Statements) => Promise<T>,
    options: ExecuteOptions,
  ): Promise<T> {
    const statements = await this.statements(options);
    return await this.options.executor.inTurn((send) => use(send, statements), options);
  }

  /** @throws the error of `decide`, unchanged */
  async transaction<T>(
    [first, decide]: readonly [SqlStatement, SqlDecide<T>],
    options: ExecuteOptions,
    subject?: string,
  ): Promise<T> {
    try {
      return await this.options.executor.transaction(first, decide, options);
    } catch (error) {
      throw error instanceof SqlExecutionError ? this.failureOf(error, subject) : error;
    }
  }

  /** @returns whether a statement on a single row wrote that row */
  hasWritten(result: SqlResult, subject: string): boolean {
    const rows = this.options.dialect.writtenRows(result);
    if (rows === 0 || rows === 1) return rows === 1;
    throw new LockStorageError(
      `The statement for ${subject} may or may not have written its row: the driver reported ${String(rows)} written rows, but only 0 or 1 are possible.`,
    );
  }

  async #verifyForUse(options: ExecuteOptions): Promise<Statements> {
    const findings = await this.verify(options);
    if (this.#statements === undefined) {
      const errors = findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
      throw new SchemaMismatchError(errors.join('\n'), { outcome: 'nothing-ran' });
    }
    for (const { severity, code, message } of findings)
      if (severity === 'warning' && code !== 'missing-index') this.warnOnce(message);
    return this.#statements;
  }

  /** Translates a driver's error. One about the tables' shape makes the next statement verify them again. */
  failureOf(error: unknown, subject: string | undefined): Error {
    if (error instanceof LockStorageError) return error;
    const [{ path, migration }] = this.definitions;
    const failure = translateDriverError(error, {
      ...this.options,
      tableName: path.join('.'),
      migration,
      subject,
    });
    if (failure instanceof SchemaMismatchError) this.#statements = undefined;
    return failure;
  }

  /** Whether the server refused a statement, so that nothing ran, and may accept another one on these tables. */
  isRefused(error: unknown): boolean {
    if (!(error instanceof SqlExecutionError) || error.cause === undefined) return false;
    const kind = this.options.dialect.failureOf(driverErrorOf(error.cause));
    return kind === 'refused' || kind === 'wrong-shape';
  }

  warnOnce(message: string): void {
    if (this.#warned.has(message)) return;
    this.#warned.add(message);
    this.options.warn(message);
  }
}
