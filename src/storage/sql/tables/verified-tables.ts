import { LockStorageError, SchemaMismatchError } from '../../../core';
import type { Connections } from '../connections/connections';
import {
  SqlExecutionError,
  writtenRows,
  type Limit,
  type Priority,
  type SendInTurn,
  type SqlSession,
  type SqlDecide,
  type SqlResult,
  type SqlStatement,
} from '../statements/statement';
import { driverErrorOf, DuplicateRecord, translateDriverError } from '../statements/sql-failure';
import type { SqlDatabase } from '../connections/sql-database';
import { inspectionOf, readTable, type InspectedTable } from '../schema/inspected-table';
import type { SchemaFinding } from '../schema/schema-finding';
import type { TableDefinition } from '../schema/table-definition';
import { verifyTable } from './verify-table';

export interface SqlTablesOptions extends Pick<
  SqlDatabase,
  'dialect' | 'address' | 'name' | 'user' | 'redact' | 'findLoss'
> {
  readonly connections: Pick<Connections, 'nodeWait' | 'isFree' | 'run'>;
  /** Called once for each finding that is a warning. */
  readonly warn: (message: string) => void;
}

/** Only `doctor` reports these. */
const FOR_DOCTOR: ReadonlySet<string> = new Set(['missing-index', 'unused-columns']);

/**
 * Verifies the library's tables before the first statement, and again after one turns out to have changed. Sends the
 * statements, and translates their errors.
 */
export class VerifiedTables<Statements> {
  readonly #warned = new Set<string>();
  #statements: Statements | undefined;
  #verifying: Promise<Statements> | undefined;

  /** Errors name the first of the `definitions`. `statementsFor` builds the statements if no finding is an error. */
  constructor(
    private readonly options: SqlTablesOptions,
    private readonly definitions: readonly [TableDefinition, ...TableDefinition[]],
    private readonly statementsFor: (found: readonly InspectedTable[]) => Statements | undefined,
  ) {}

  /** `undefined` until the tables were verified. */
  get verified(): Statements | undefined {
    return this.#statements;
  }

  /** @throws as `check` does */
  async statements(limit: Limit): Promise<Statements> {
    return this.#statements ?? (await this.check(limit));
  }

  /** @throws SchemaMismatchError listing every problem of the tables with its fix */
  async check(limit: Limit): Promise<Statements> {
    this.#verifying ??= this.#verifyForUse(limit).finally(() => (this.#verifying = undefined));
    return await this.#verifying;
  }

  async verify(limit: Limit): Promise<readonly SchemaFinding[]> {
    const { dialect, name } = this.options;
    const locations = this.definitions.map(({ path }) => ({ path, database: name }));
    const { rows } = await this.execute(inspectionOf(locations, dialect), limit);
    const tables = this.definitions.map((definition, number) => {
      const found = readTable(rows, number, dialect.inspection);
      return { found, findings: verifyTable(definition, found, this.options) };
    });
    const findings = tables.flatMap((table) => table.findings);
    const isUsable = findings.every(({ severity }) => severity === 'warning');
    this.#statements = isUsable ? this.statementsFor(tables.map(({ found }) => found)) : undefined;
    return findings;
  }

  /** @param subject what the statement is about, such as `lock 'job'`. Default: the table. */
  execute(statement: SqlStatement, limit: Limit, subject?: string): Promise<SqlResult> {
    return this.#run((session, endsAtMs) => session.execute(statement, endsAtMs), limit, subject);
  }

  /** Sends one of the statements on these tables, and returns its answer and all of them. */
  async send(
    statement: (of: Statements) => SqlStatement,
    limit: Limit,
    subject?: string,
  ): Promise<{ readonly result: SqlResult; readonly statements: Statements }> {
    const statements = this.#statements ?? (await this.check(limit));
    return { result: await this.execute(statement(statements), limit, subject), statements };
  }

  /** @throws the error of `decide`, unchanged */
  transaction<T>(
    [first, decide]: readonly [SqlStatement, SqlDecide<T>],
    limit: Limit,
    subject?: string,
  ): Promise<T> {
    return this.#run((session, endsAtMs) => session.transaction(first, decide, endsAtMs), limit, subject);
  }

  /** Until the tables were verified, no request gets a connection at once. */
  isFree(priority: Priority | undefined): boolean {
    return this.#statements !== undefined && this.options.connections.isFree(priority);
  }

  /** Calls `use` as soon as there is a connection for it. All its statements share the limit. Its errors need `failureOf`. */
  async inTurn<T>(use: (send: SendInTurn, statements: Statements) => Promise<T>, limit: Limit): Promise<T> {
    const statements = await this.statements(limit);
    return await this.options.connections.run(
      (session, endsAtMs) => use((statement) => session.execute(statement, endsAtMs), statements),
      limit,
    );
  }

  async #run<T>(
    use: (session: SqlSession, endsAtMs: number) => Promise<T>,
    limit: Limit,
    subject: string | undefined,
    isRetry = false,
  ): Promise<T> {
    try {
      return await this.options.connections.run(use, limit);
    } catch (error) {
      const failure = error instanceof SqlExecutionError ? this.failureOf(error, subject) : error;
      const { sequenceFix } = this.options.dialect.columnTypes;
      const withIds = this.definitions.filter(({ primaryKey }) => primaryKey === undefined);
      const canRetry = sequenceFix && withIds.length > 0 && !isRetry && failure instanceof DuplicateRecord;
      if (!canRetry) throw failure;
      // The key of the row may be free, and only its generated id in use. Then nothing was written.
      for (const text of withIds.map(({ path }) => sequenceFix(path)))
        await this.execute({ id: '', text, values: [] }, limit, `the next id (${text})`);
      return await this.#run(use, limit, subject, true);
    }
  }

  /** @returns whether a statement on a single row wrote that row */
  hasWritten(result: SqlResult, subject: string): boolean {
    const rows = writtenRows(result, this.options.dialect);
    if (rows === 0 || rows === 1) return rows === 1;
    throw new LockStorageError(
      `The statement for ${subject} may or may not have written its row: the driver reported ${String(rows)} written rows, but only 0 or 1 are possible.`,
    );
  }

  async #verifyForUse(limit: Limit): Promise<Statements> {
    const findings = await this.verify(limit);
    if (this.#statements === undefined) {
      const errors = findings.filter(({ severity }) => severity === 'error').map(({ message }) => message);
      throw new SchemaMismatchError(errors.join('\n'), { outcome: 'nothing-ran' });
    }
    for (const { severity, code, message } of findings)
      if (severity === 'warning' && !FOR_DOCTOR.has(code)) this.warnOnce(message);
    return this.#statements;
  }

  /** Translates a driver's error. One about the tables' shape makes the next statement verify them again. */
  failureOf(error: unknown, subject: string | undefined): Error {
    if (error instanceof LockStorageError) return error;
    const [{ path, remedy }] = this.definitions;
    const failure = translateDriverError(error, {
      ...this.options,
      tableName: path.join('.'),
      remedy,
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
