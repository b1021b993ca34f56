import { randomUUID } from 'node:crypto';
import { LockStorageError, noneAfter, type Clock } from '../../../core';
import { PLACE_NAME } from '../../../core/lock-name';
import { noneIfInserted } from '../statements/sql-failure';
import type { Limit, Parameters } from '../statements/statement';
import type { VerifiedTables } from '../tables/verified-tables';
import type { LockStatements } from './lock-statements';

const RETRY_INTERVAL_MS = 60_000;

/**
 * The row that names the place of the locks. It moves with its table, so the place is the same under each address of the
 * server, on each node of a cluster, and after a failover. Only a process that takes locks for its jobs inserts it.
 */
export class LockPlace<Statements> {
  #id: string | undefined;
  /** Those of the table in which the row was found. */
  #foundBy: Statements | undefined;
  #settling: Promise<void> | undefined;
  #retryAtMs = -Infinity;

  constructor(
    private readonly tables: VerifiedTables<Statements>,
    private readonly of: (statements: Statements) => Pick<LockStatements, 'insert' | 'resolve'>,
  ) {}

  /** `undefined` until the row was found. */
  get id(): string | undefined {
    return this.#id;
  }

  /** Finds or inserts the row before a lock. If the database fails, it warns once, and tries again after a minute. */
  settle(limit: Limit, clock: Clock): Promise<void> | undefined {
    const isFound = this.#foundBy !== undefined && this.#foundBy === this.tables.verified;
    if (isFound || clock.monotonicMs() < this.#retryAtMs) return undefined;
    return (this.#settling ??= this.#settle(limit, clock).finally(() => (this.#settling = undefined)));
  }

  /** Another row of the table is gone, so this one can be gone, too. */
  expectLoss(): void {
    this.#foundBy = undefined;
  }

  /** Reads the id again. It stays if the database fails, and `undefined` for a reader, which may not lock the row. */
  async refresh(limit: Limit): Promise<void> {
    await this.#read(limit).catch(noneAfter(LockStorageError));
  }

  /**
   * Reads the row with a lock, because a replica may answer a plain read before it has the row. If there is none, the id
   * stays as it is known.
   *
   * @returns whether there is a row
   */
  async #read(limit: Limit): Promise<boolean> {
    const { result, statements } = await this.#send('resolve', { name: PLACE_NAME }, limit);
    const [row] = result.rows;
    if (row === undefined) return false;
    this.#id = String(row['locked_by']);
    this.#foundBy = statements;
    return true;
  }

  async #settle(limit: Limit, clock: Clock): Promise<void> {
    try {
      if (await this.#read(limit)) return;
      const owner = this.#id ?? `place/${randomUUID()}`;
      await this.#send('insert', { name: PLACE_NAME, owner, atMost: 0 }, limit).catch(noneIfInserted);
      await this.#read(limit);
    } catch (error) {
      if (!(error instanceof LockStorageError)) throw error;
      // The request for the lock reports a table that cannot be used.
      if (this.tables.verified === undefined) return;
      this.#retryAtMs = clock.monotonicMs() + RETRY_INTERVAL_MS;
      this.tables.warnOnce(
        `Could not find or insert the row '${PLACE_NAME}' of the lock table: ${error.message} Until this process can, a run that crashes here is taken over only when its longest lease has ended.`,
      );
    }
  }

  /** Sent rarely, so it is not prepared. */
  #send(key: 'insert' | 'resolve', parameters: Parameters, limit: Limit) {
    return this.tables.send((of) => ({ ...this.of(of)[key].bind(parameters), id: '' }), limit);
  }
}
