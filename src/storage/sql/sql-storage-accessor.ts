import {
  LockStorageError,
  type Grant,
  type LockRecord,
  type LockRequest,
  type StatementOptions,
  type StorageAccessor,
} from '../../core';
import type { LockTable } from './lock-table';
import { NamedStatement } from './named-statement';
import { quoteLockTable, type LockTexts, type SqlDialect } from './sql-dialect';
import type { ExecuteOptions, SqlExecutor, SqlResult, SqlStatement } from './sql-executor';
import { DuplicateRecord, storageErrorOf } from './storage-error';

type FindOptions = Parameters<StorageAccessor['find']>[1];

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
  readonly #statements: Readonly<Record<keyof LockTexts, NamedStatement>>;

  constructor(options: SqlStorageOptions) {
    const { dialect, table } = options;
    const texts = Object.entries(dialect.lockTexts(quoteLockTable(table, dialect)));
    const statements = texts.map(([key, text]: [string, string]) => [
      key,
      new NamedStatement(text, dialect.placeholder),
    ]);
    this.#options = options;
    this.#statements = Object.fromEntries(statements) as Record<keyof LockTexts, NamedStatement>;
  }

  async insertRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined> {
    try {
      return this.#grant(await this.#write('insert', request, options), request);
    } catch (error) {
      if (error instanceof DuplicateRecord) return undefined;
      throw error;
    }
  }

  async updateRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined> {
    return this.#grant(await this.#write('takeOver', request, options), request);
  }

  async extend(request: LockRequest, options: StatementOptions): Promise<boolean> {
    return this.#wrote(await this.#write('extend', request, options), request);
  }

  async unlock(request: LockRequest, options: StatementOptions): Promise<boolean> {
    return this.#wrote(await this.#write('unlock', request, options), request);
  }

  async find(name: string, { timeoutMs, purpose }: FindOptions): Promise<LockRecord | undefined> {
    const statement = this.#statements[purpose].bind({ name });
    const { rows } = await this.#execute(statement, { timeoutMs, urgent: purpose === 'resolve' }, name);
    const row = rows[0];
    return (
      row && {
        lockedBy: String(row['locked_by']),
        held: Number(row['held']) === 1,
        lockUntil: new Date(Number(row['lock_until_us']) / 1000),
        fencingToken: tokenOf(row['fencing_token'], name),
      }
    );
  }

  /**
   * Whether the table is there and has the columns.
   *
   * @throws SchemaMismatchError that says what to do
   * @throws LockStorageError when the database cannot be asked
   */
  async probe({ timeoutMs }: StatementOptions): Promise<void> {
    await this.#execute(this.#statements.probe.bind({}), { timeoutMs, urgent: false }, undefined);
  }

  async close(): Promise<void> {
    await this.#options.executor.close();
  }

  #grant(result: SqlResult, request: LockRequest): Grant | undefined {
    if (!this.#wrote(result, request)) return undefined;
    return { fencingToken: tokenOf(this.#options.dialect.tokenOf(result), request.name) };
  }

  #wrote(result: SqlResult, { name }: LockRequest): boolean {
    const rows = this.#options.dialect.writtenRows(result);
    if (rows === 0 || rows === 1) return rows === 1;
    throw new LockStorageError(
      `The driver did not say whether the statement on lock '${name}' wrote its row, but ${String(rows)}.`,
    );
  }

  async #write(
    key: 'takeOver' | 'insert' | 'extend' | 'unlock',
    { name, owner, lockAtMostForMs, lockAtLeastForMs }: LockRequest,
    { timeoutMs }: StatementOptions,
  ): Promise<SqlResult> {
    const durations = { atMost: microseconds(lockAtMostForMs), atLeast: microseconds(lockAtLeastForMs) };
    const urgent = key === 'extend' || key === 'unlock';
    return await this.#execute(
      this.#statements[key].bind({ name, owner, ...durations }),
      { timeoutMs, urgent },
      name,
    );
  }

  async #execute(
    statement: SqlStatement,
    options: ExecuteOptions,
    lockName: string | undefined,
  ): Promise<SqlResult> {
    try {
      return await this.#options.executor.execute(statement, options);
    } catch (error) {
      throw storageErrorOf(error, { ...this.#options, lockName });
    }
  }
}

/** Durations travel as whole microseconds. */
function microseconds(milliseconds: number): number {
  return Math.round(milliseconds * 1000);
}

/** Drivers hand a token over as number, string or bigint. */
function tokenOf(value: unknown, name: string): number {
  const token = value === null || value === '' ? NaN : Number(value);
  if (Number.isSafeInteger(token)) return token;
  throw new LockStorageError(`The fencing token of lock '${name}' is not a safe integer: ${String(value)}.`);
}
