import { setTimeout } from 'node:timers/promises';
import {
  LockStorageError,
  SchemaMismatchError,
  type Clock,
  type ExtensionRequest,
  type Grant,
  type LockRecord,
  type LockRequest,
  type LockRecordPage,
  type NamedLockRecord,
  type StatementOptions,
  type StorageAccessor,
} from '../../../core';
import { keptForMs, storageErrorOf, unknownOutcome } from '../../../core/lease/statements';
import { DuplicateRecord } from '../statements/sql-failure';
import {
  microseconds,
  writtenRows,
  type Limit,
  type Parameters as SqlParameters,
  type SqlResult,
  type SqlRow,
} from '../statements/statement';
import type { LockParameters } from '../dialects/sql-dialect';
import type { TableDefinition } from '../schema/table-definition';
import { VerifiedTables, type SqlTablesOptions } from '../tables/verified-tables';
import { LockPlace } from './lock-place';
import { lockStatementsFor, type LockStatementName, type LockStatements } from './lock-statements';

export type WriteRequest = LockRequest & { readonly nextOwner?: string };

export interface SqlStorageOptions extends SqlTablesOptions {
  readonly table: TableDefinition;
  /** `false`: a take-over follows each refused insert, and finds out why it was refused. */
  readonly keepRows?: boolean | undefined;
}

/** Microseconds since 1970 have had sixteen digits since 2001. */
const LEAST_TOKEN = 1e15;

export class SqlStorageAccessor implements StorageAccessor {
  readonly keepsTimeLimits = true;
  readonly keepsRecords = true;
  readonly tables: VerifiedTables<LockStatements>;
  readonly place: LockPlace<LockStatements>;

  constructor(private readonly options: SqlStorageOptions) {
    this.tables = new VerifiedTables(
      options,
      [options.table],
      ([found]) => found && lockStatementsFor(found, options.table, options.dialect),
    );
    this.place = new LockPlace(this.tables, (statements) => statements);
  }

  get clockStepMs(): number | undefined {
    return this.tables.verified?.shape.clockStepMs;
  }

  get waitsForNodes(): boolean {
    return this.options.connections.nodeWait !== undefined;
  }

  prepare(clock: Clock, options: StatementOptions): Promise<void> | undefined {
    return this.place.settle(options, clock);
  }

  onMissing(): void {
    this.place.expectLoss();
  }

  async insertRecord(request: LockRequest, options: StatementOptions): Promise<Grant | undefined> {
    try {
      const sent = await this.#write('insert', request, options);
      const grant = await this.grantIn(sent, 'insert', request, options);
      return typeof grant === 'object' ? grant : undefined;
    } catch (error) {
      if (!(error instanceof DuplicateRecord)) throw error;
      if (this.options.keepRows !== false) await this.#refuseCollision(request.name, options);
      return undefined;
    }
  }

  async updateRecord(
    request: LockRequest,
    options: StatementOptions,
  ): ReturnType<StorageAccessor['updateRecord']> {
    return this.grantIn(await this.#write('takeOver', request, options), 'takeOver', request, options);
  }

  extend(request: ExtensionRequest, options: StatementOptions): Promise<boolean> {
    return this.#writeHeld('extend', request, options);
  }

  unlock(request: LockRequest, options: StatementOptions): Promise<boolean> {
    return this.#writeHeld('unlock', request, options);
  }

  async deleteRecord(request: LockRequest, options: StatementOptions): Promise<boolean> {
    if (await this.#writeHeld('deleteRecord', request, options)) return true;
    const step = this.clockStepMs ?? 0;
    if (step < 1 || request.lockAtLeastForMs > 0) return false;
    // The database's clock may not have moved since the lock was granted.
    await setTimeout(2 * step);
    return await this.#writeHeld('deleteRecord', request, options);
  }

  async deleteExpired(olderThanMs: number, { timeoutMs }: StatementOptions): Promise<number> {
    const parameters = { olderThan: microseconds(olderThanMs) };
    const { result } = await this.#send('deleteExpired', parameters, { timeoutMs });
    const deleted = writtenRows(result, this.options.dialect);
    if (typeof deleted === 'number') return deleted;
    throw new LockStorageError(`Could not count the deleted locks: the driver reported ${String(deleted)}.`);
  }

  async find(
    name: string,
    { timeoutMs, purpose }: Parameters<StorageAccessor['find']>[1],
  ): Promise<LockRecord | undefined> {
    const limit: Limit = { timeoutMs, priority: purpose === 'resolve' ? 'lease' : 'other' };
    const { result, statements } = await this.#send(purpose, { name }, limit);
    const [record] = result.rows.map((row) => recordIn(row, statements));
    if (record === undefined || record.name === name) return record;
    throw new SchemaMismatchError(
      `Lock names '${name}' and '${record.name}' collide: the name column of table '${this.options.table.path.join('.')}' compares them as equal. Rename one of the locks, or give the column the type that docs/lock-table.md shows.`,
      { outcome: 'nothing-ran' },
    );
  }

  async list(
    { after = '', limit, held }: LockRecordPage,
    { timeoutMs }: StatementOptions,
  ): Promise<readonly NamedLockRecord[]> {
    const { result, statements } = await this.#send(held ? 'listHeld' : 'list', { after }, { timeoutMs });
    return result.rows.slice(0, limit).map((row) => recordIn(row, statements));
  }

  /** @returns the grant in the answer to a take-over or an insert, or why there is none */
  grantIn(
    { result, statements }: SentStatement,
    key: 'takeOver' | 'insert',
    request: LockRequest,
    options: StatementOptions,
  ): Grant | 'held' | 'missing' | undefined | Promise<Grant> {
    if (!this.tables.hasWritten(result, describeLock(request))) return this.options.dialect.refusalOf(result);
    if (!statements.shape.hasToken) return { fencingToken: undefined };
    const token = this.options.dialect.returnsRows ? result.rows[0]?.['fencing_token'] : result.insertId;
    const fencingToken = checkedToken(token, request.name);
    const isReturned =
      fencingToken >= LEAST_TOKEN && (key === 'takeOver' || statements.shape.insertReturnsToken);
    return isReturned ? { fencingToken } : this.#readGrant(request, options);
  }

  /**
   * Reads the token from the row just written. In the answer to an INSERT, MySQL replaces it with 0 if there is a trigger,
   * and with the number of an AUTO_INCREMENT column, which the server may hide.
   */
  async #readGrant({ name, owner }: LockRequest, { timeoutMs }: StatementOptions): Promise<Grant> {
    const record = await this.find(name, { timeoutMs, purpose: 'resolve' }).catch((error: unknown) => {
      throw unknownOutcome(storageErrorOf(error, name));
    });
    if (record?.lockedBy === owner && record.fencingToken !== undefined) return record;
    throw new LockStorageError(
      `Could not read the fencing token of lock '${name}': another process has changed its row.`,
    );
  }

  /**
   * The existing row may collide by another key than the name. Mistaking it for a held lock would stop the job for ever.
   * It reads with a lock, because a replica may answer a plain read before it has the row.
   */
  async #refuseCollision(name: string, { timeoutMs }: StatementOptions): Promise<void> {
    if ((await this.find(name, { timeoutMs, purpose: 'resolve' })) !== undefined) return;
    throw new SchemaMismatchError(
      `Could not insert lock '${name}': it collides with the row of another lock in table '${this.options.table.path.join('.')}'. Drop any additional unique index from the table. On a cluster, another server may not have applied the row yet: connect all instances to the same server.`,
      { outcome: 'nothing-ran' },
    );
  }

  /** @returns whether the statement wrote the row, which it does only for the owner of a held lock */
  #writeHeld(key: LockStatementName, request: LockRequest, options: StatementOptions): Promise<boolean> {
    const loss = this.options.findLoss?.();
    if (loss !== undefined) {
      this.tables.warnOnce(`Locks in ${this.options.address} are lost: ${loss.message}.`);
      return Promise.resolve(false);
    }
    return this.#write(key, request, options).then(({ result }) =>
      this.tables.hasWritten(result, describeLock(request)),
    );
  }

  #write(key: LockStatementName, request: WriteRequest, options: StatementOptions): Promise<SentStatement> {
    const priority = key === 'insert' || key === 'takeOver' ? 'other' : 'lease';
    return this.#send(key, parametersOf(request), { ...options, priority });
  }

  #send(key: LockStatementName, parameters: SqlParameters, limit: Limit): Promise<SentStatement> {
    const { name } = parameters;
    const subject = typeof name === 'string' ? describeLock({ name }) : undefined;
    return this.tables.send((statements) => statements[key].bind(parameters), limit, subject);
  }
}

/** The answer to a statement, and the statements of the table as it was found then. */
export interface SentStatement {
  readonly result: SqlResult;
  readonly statements: LockStatements;
}

export function recordIn(row: SqlRow, { shape }: LockStatements): NamedLockRecord {
  const name = String(row['name']);
  return {
    name,
    lockedBy: String(row['locked_by']),
    held: Number(row['held']) === 1,
    lockUntil: new Date(Number(row['lock_until_us']) / 1000),
    lockedAt: row['locked_at_us'] === undefined ? undefined : new Date(Number(row['locked_at_us']) / 1000),
    readAt: new Date(Number(row['now_us']) / 1000),
    fencingToken: shape.hasToken ? checkedToken(row['fencing_token'], name) : undefined,
  };
}

export function parametersOf(request: WriteRequest): LockParameters {
  const { name, owner, nextOwner = '', lockAtMostForMs, lockAtLeastForMs } = request;
  const [atMost, atLeast] = [microseconds(lockAtMostForMs), microseconds(keptForMs(lockAtLeastForMs))];
  return { name, owner, nextOwner, atMost, atLeast };
}

export function describeLock({ name }: Pick<LockRequest, 'name'>): string {
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
