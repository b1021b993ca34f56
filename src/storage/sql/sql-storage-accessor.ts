import {
  LockStorageError,
  SchemaMismatchError,
  type Grant,
  type LockRecord,
  type LockRequest,
  type StatementOptions,
  type StorageAccessor,
} from '../../core';
import type { LockTable } from './lock-table';
import type { LockStatements, SqlDialect } from './sql-dialect';
import { SqlExecutionError, type SqlExecutor, type SqlResult, type SqlStatement } from './sql-executor';
import { driverErrorOf, type SqlFailureKind } from './sql-failure';

export interface SqlStorageOptions {
  readonly executor: SqlExecutor;
  readonly dialect: SqlDialect;
  readonly table: LockTable;
  /** Names the database in errors, without credentials. */
  readonly address: string;
  /** Takes secrets out of a driver's message. */
  readonly redact: (message: string) => string;
}

/** A lock table in SQL. */
export class SqlStorageAccessor implements StorageAccessor {
  readonly #options: SqlStorageOptions;
  readonly #statements: LockStatements;
  readonly #tableName: string;

  constructor(options: SqlStorageOptions) {
    this.#options = options;
    this.#statements = options.dialect.lockStatements(options.table);
    this.#tableName = options.table.path.join('.');
  }

  async insertRecord(request: LockRequest, { timeoutMs }: StatementOptions): Promise<Grant | undefined> {
    try {
      return this.#grant(
        await this.#execute(this.#statements.insert(request), { timeoutMs, urgent: false }, request.name),
        request.name,
      );
    } catch (error) {
      if (error instanceof DuplicateRecord) return undefined;
      throw error;
    }
  }

  async updateRecord(request: LockRequest, { timeoutMs }: StatementOptions): Promise<Grant | undefined> {
    return this.#grant(
      await this.#execute(this.#statements.takeOver(request), { timeoutMs, urgent: false }, request.name),
      request.name,
    );
  }

  async extend(request: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    return this.#wrote(
      await this.#execute(this.#statements.extend(request), { timeoutMs, urgent: true }, request.name),
      request.name,
    );
  }

  async unlock(request: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    return this.#wrote(
      await this.#execute(this.#statements.unlock(request), { timeoutMs, urgent: true }, request.name),
      request.name,
    );
  }

  async find(
    name: string,
    { timeoutMs, purpose }: StatementOptions & { purpose: 'look' | 'resolve' },
  ): Promise<LockRecord | undefined> {
    const { rows } = await this.#execute(
      this.#statements[purpose](name),
      { timeoutMs, urgent: purpose === 'resolve' },
      name,
    );
    const row = rows[0];
    if (row === undefined) return undefined;
    return {
      lockedBy: String(row['locked_by']),
      held: Number(row['held']) === 1,
      lockUntil: new Date(Number(row['lock_until_us']) / 1000),
      fencingToken: this.#token(row['fencing_token'], name),
    };
  }

  /**
   * Whether the table is there and has the columns.
   *
   * @throws SchemaMismatchError that says what to do
   * @throws LockStorageError when the database cannot be asked
   */
  async probe({ timeoutMs }: StatementOptions): Promise<void> {
    await this.#execute(this.#statements.probe(), { timeoutMs, urgent: false }, undefined);
  }

  async close(): Promise<void> {
    await this.#options.executor.close();
  }

  #grant(result: SqlResult, name: string): Grant | undefined {
    if (!this.#wrote(result, name)) return undefined;
    return { fencingToken: this.#token(this.#options.dialect.tokenOf(result), name) };
  }

  #wrote(result: SqlResult, name: string): boolean {
    const rows = this.#options.dialect.writtenRows(result);
    if (rows === 0 || rows === 1) return rows === 1;
    throw new LockStorageError(
      `The driver did not say whether the statement on lock '${name}' wrote its row, but ${String(rows)}.`,
    );
  }

  /** Drivers hand a token over as number, string or bigint. */
  #token(value: unknown, name: string): number {
    const token = Number(value);
    if (Number.isSafeInteger(token)) return token;
    throw new LockStorageError(
      `The fencing token of lock '${name}' is not a safe integer: ${String(value)}.`,
    );
  }

  async #execute(
    statement: SqlStatement,
    options: { timeoutMs: number; urgent: boolean },
    name: string | undefined,
  ): Promise<SqlResult> {
    try {
      return await this.#options.executor.execute(statement, options);
    } catch (error) {
      throw this.#translate(error, name);
    }
  }

  /** Never passes the driver's error on as it is: it may hold values, or the statement with its values. */
  #translate(error: unknown, name: string | undefined): Error {
    const driverError = driverErrorOf(error instanceof SqlExecutionError ? (error.cause ?? error) : error);
    const message = this.#options.redact(driverError.message).replace(/[.\s]+$/, '');
    const cause = Object.assign(new Error(message), { code: driverError.code, errno: driverError.errno });
    const details = { cause, driverCode: driverError.code };
    const culprit = name === undefined ? `table '${this.#tableName}'` : `lock '${name}'`;
    const progress = error instanceof SqlExecutionError ? error.progress : 'sent';
    if (progress === 'not-sent') {
      const text = `Nothing was sent for ${culprit} to ${this.#options.address}: ${message}.`;
      return new LockStorageError(text, { ...details, outcome: 'nothing-ran' });
    }
    if (progress === 'rolled-back') {
      return new LockStorageError(`The statement on ${culprit} did not take effect: ${message}.`, {
        ...details,
        outcome: 'nothing-ran',
      });
    }
    return this.#explain(this.#options.dialect.failureOf(driverError), culprit, message, details);
  }

  #explain(
    kind: SqlFailureKind,
    culprit: string,
    message: string,
    details: { cause: Error; driverCode: string | undefined },
  ): Error {
    const table = this.#tableName;
    const remedy = `run the migration made by createCronlatchMigration({ tables: ['lock'] }), or create the table as the README shows`;
    switch (kind) {
      case 'duplicate':
        return new DuplicateRecord();
      case 'contention':
        return new LockStorageError(`Other transactions kept ${culprit} from being written: ${message}.`, {
          ...details,
          outcome: 'contention',
        });
      case 'unknown':
        return new LockStorageError(
          `It is not known what became of the statement on ${culprit}: ${message}.`,
          { ...details, outcome: 'unknown' },
        );
      case 'not-the-primary':
        return new LockStorageError(
          `${this.#options.address} does not take writes, so it is not the primary (${culprit}): ${message}.`,
          {
            ...details,
            outcome: 'nothing-ran',
          },
        );
      case 'missing-table':
        return new SchemaMismatchError(`Table '${table}' is missing: ${remedy}. (${message})`, {
          ...details,
          outcome: 'nothing-ran',
        });
      case 'wrong-shape':
        return new SchemaMismatchError(
          `Table '${table}' does not have the columns of the lock (${message}): ${remedy}.`,
          {
            ...details,
            outcome: 'nothing-ran',
          },
        );
      case 'refused':
        return new LockStorageError(
          `${this.#options.address} refused the statement on ${culprit}: ${message}.`,
          {
            ...details,
            outcome: 'nothing-ran',
          },
        );
    }
  }
}

/** Not a failure: somebody else inserted the record first. Never leaves this file. */
class DuplicateRecord extends Error {}
