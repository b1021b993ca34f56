import {
  LockStorageError,
  SchemaMismatchError,
  type ExtensionRequest,
  type Grant,
  type LockRecord,
  type LockRequest,
  type StatementOptions,
  type StorageAccessor,
} from '../../../core';
import { DuplicateRecord } from '../connections/storage-error';
import { microseconds, type SqlResult } from '../connections/sql-executor';
import type { InspectedTable } from '../schema/inspected-table';
import { lockTableDefinition, type LockTable } from '../schema/lock-table';
import type { SchemaFinding } from '../schema/schema-finding';
import { VerifiedTables, type SqlTablesOptions } from '../schema/verified-tables';
import { lockStatementsFor, type LockStatements } from './lock-statements';

type FindOptions = Parameters<StorageAccessor['find']>[1];
type Write = 'takeOver' | 'insert' | 'extend' | 'unlock';

export interface SqlStorageOptions extends SqlTablesOptions {
  readonly table: LockTable;
}

/** Microseconds since 1970 have had sixteen digits since 2001. */
const LEAST_TOKEN = 1e15;

/** Keeps locks in an SQL table. */
export class SqlStorageAccessor implements StorageAccessor {
  readonly keepsTimeLimits = true;
  readonly #options: SqlStorageOptions;
  readonly #tables: VerifiedTables<LockStatements>;
  #found: InspectedTable | undefined;

  constructor(options: SqlStorageOptions) {
    this.#options = options;
    this.#tables = new VerifiedTables(options, [lockTableDefinition(options.table)], ([found]) => {
      this.#found = found;
      return found && lockStatementsFor(found, options);
    });
  }

  /** The table as last found. */
  get found(): InspectedTable | undefined {
    return this.#found;
  }

  get clockStepMs(): number | undefined {
    return this.#tables.verified?.shape.clockStepMs;
  }

  async insertRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined> {
    try {
      const grant = await this.#acquire('insert', request, options);
      if (typeof grant === 'object') return grant;
      await this.#refuseOtherName(request.name, options);
      return undefined;
    } catch (error) {
      if (!(error instanceof DuplicateRecord)) throw error;
      await this.#refuseCollision(request.name, options);
      return undefined;
    }
  }

  updateRecord(
    request: LockRequest,
    options: StatementOptions,
  ): Promise<Grant | 'held' | 'missing' | undefined> {
    return this.#acquire('takeOver', request, options);
  }

  async extend(request: ExtensionRequest, options: StatementOptions): Promise<boolean> {
    return this.#tables.hasWritten(
      (await this.#write('extend', request, options)).result,
      describeLock(request),
    );
  }

  async unlock(request: LockRequest, options: StatementOptions): Promise<boolean> {
    return this.#tables.hasWritten(
      (await this.#write('unlock', request, options)).result,
      describeLock(request),
    );
  }

  async find(name: string, { timeoutMs, purpose }: FindOptions): Promise<LockRecord | undefined> {
    const options = { timeoutMs, urgent: purpose === 'resolve' };
    const statements = this.#tables.verified ?? (await this.#tables.statements(options));
    const statement = statements[purpose].bind({ name });
    const { rows } = await this.#tables.execute(statement, options, describeLock({ name }));
    const row = rows[0];
    if (row === undefined) return undefined;
    this.#checkName(String(row['name']), name);
    return {
      lockedBy: String(row['locked_by']),
      held: Number(row['held']) === 1,
      lockUntil: new Date(Number(row['lock_until_us']) / 1000),
      fencingToken: statements.shape.hasToken ? checkedToken(row['fencing_token'], name) : undefined,
    };
  }

  /**
   * Verifies the table, and warns of its limits.
   *
   * @throws SchemaMismatchError listing every problem with its fix
   * @throws LockStorageError if the database cannot be reached
   */
  async check({ timeoutMs }: StatementOptions): Promise<void> {
    await this.#tables.statements({ timeoutMs, urgent: false });
  }

  /** @throws LockStorageError if the database cannot be reached */
  async verifySchema({ timeoutMs }: StatementOptions): Promise<readonly SchemaFinding[]> {
    return await this.#tables.verify({ timeoutMs, urgent: false });
  }

  async #acquire(
    key: 'takeOver' | 'insert',
    request: LockRequest,
    options: StatementOptions,
  ): Promise<Grant | 'held' | 'missing' | undefined> {
    const { result, statements } = await this.#write(key, request, options);
    if (!this.#tables.hasWritten(result, describeLock(request)))
      return this.#options.dialect.refusalOf(result);
    if (!statements.shape.hasToken) return { fencingToken: undefined };
    const token = checkedToken(this.#options.dialect.tokenOf(result), request.name);
    const isReturned = token >= LEAST_TOKEN && (key === 'takeOver' || statements.shape.insertReturnsToken);
    return { fencingToken: isReturned ? token : await this.#readToken(request, options) };
  }

  /**
   * Reads the token from the row just written. In the answer to an INSERT, MySQL replaces it with 0 if there is a trigger,
   * and with the number of an AUTO_INCREMENT column, which the server may hide.
   */
  async #readToken({ name, owner }: LockRequest, { timeoutMs }: StatementOptions): Promise<number> {
    const record = await this.find(name, { timeoutMs, purpose: 'resolve' });
    if (record?.lockedBy === owner && record.fencingToken !== undefined) return record.fencingToken;
    throw new LockStorageError(
      `Could not read the fencing token of lock '${name}': another process has changed its row.`,
    );
  }

  /** If the column compares different names as equal, the existing row may belong to another lock. */
  async #refuseOtherName(name: string, { timeoutMs }: StatementOptions): Promise<void> {
    if (this.#tables.verified?.shape.comparesBytes === false)
      await this.find(name, { timeoutMs, purpose: 'inspect' });
  }

  /**
   * The existing row may collide by another key than the name. Mistaking it for a held lock would stop the job for ever.
   * It reads with a lock, because a replica may answer a plain read before it has the row.
   */
  async #refuseCollision(name: string, { timeoutMs }: StatementOptions): Promise<void> {
    if ((await this.find(name, { timeoutMs, purpose: 'resolve' })) !== undefined) return;
    throw new SchemaMismatchError(
      `Could not insert lock '${name}': it collides with the row of another lock in table '${this.#options.table.path.join('.')}'. Drop any additional unique index from the table.`,
      { outcome: 'nothing-ran' },
    );
  }

  #checkName(found: string, name: string): void {
    if (found === name) return;
    throw new SchemaMismatchError(
      `Lock names '${name}' and '${found}' collide: the name column of table '${this.#options.table.path.join('.')}' compares them as equal. Rename one of the locks, or give the column the type that docs/lock-table.md shows.`,
      { outcome: 'nothing-ran' },
    );
  }

  async #write(
    key: Write,
    { name, owner, nextOwner = '', lockAtMostForMs, lockAtLeastForMs }: LockRequest & { nextOwner?: string },
    { timeoutMs }: StatementOptions,
  ): Promise<{ result: SqlResult; statements: LockStatements }> {
    const options = { timeoutMs, urgent: key === 'extend' || key === 'unlock' };
    const statements = this.#tables.verified ?? (await this.#tables.statements(options));
    const [atMost, atLeast] = [microseconds(lockAtMostForMs), microseconds(lockAtLeastForMs)];
    const statement = statements[key].bind({ name, owner, nextOwner, atMost, atLeast });
    return { result: await this.#tables.execute(statement, options, describeLock({ name })), statements };
  }
}

function describeLock({ name }: { readonly name: string }): string {
  return `lock '${name}'`;
}

/** Drivers return a token as number, string or bigint. */
function checkedToken(value: unknown, name: string): number {
  const token = value === null || value === '' ? NaN : Number(value);
  if (Number.isSafeInteger(token)) return token;
  throw new LockStorageError(
    `Lock '${name}' has an invalid fencing token: ${String(value)} is not a safe integer.`,
  );
}
