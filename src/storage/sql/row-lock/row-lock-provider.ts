import {
  systemClock,
  type Clock,
  type Duration,
  type Lock,
  type LockConfiguration,
  type LockObserver,
  type LockProvider,
} from '../../../core';
import { checkOptionNames, refuseOption } from '../../../core/options';
import { parseDuration, parseStatementTimeout } from '../../../core/duration';
import { Lease } from '../../../core/lease/lease';
import { newOwner } from '../../../core/lease/owner';
import { checkLockConfiguration } from '../../../core/lock-configuration';
import { DEFAULT_NAME_LENGTH, PROBED_NAME } from '../../../core/lock-name';
import { warnInProcess } from '../../../core/warning';
import type { Limit } from '../statements/statement';
import type { SqlDatabase } from '../connections/sql-database';
import type { RowLockTableOptions } from '../schema/table-options';
import { tableOf } from '../schema/tables';
import { HeldRow, IDLE_MS } from './held-row';
import { RowLockTable } from './row-lock-table';

export interface RowLockProviderOptions extends RowLockTableOptions {
  /** At most so many connections: each held lock keeps one, and each attempt needs one. At least 2, default 5. */
  readonly maxConnections?: number | undefined;
  /**
   * How long the database waits for another holder before the lock is refused. Default 0: it does not wait. In whole
   * seconds on MySQL and MariaDB.
   */
  readonly wait?: Duration | undefined;
  /** The longest time limit of a statement, without `wait`. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  /** Called once for each warning. Default: `process.emitWarning`. */
  readonly onWarning?: ((message: string) => void) | undefined;
  /** For `lockAtMostFor` and `keepAlive`. Connections are watched in real time, because the server watches them too. */
  readonly clock?: Clock | undefined;
}

const TABLE = ['rowLockTable', 'schema', 'nameLength'];
const OPTIONS = [...TABLE, 'maxConnections', 'wait', 'statementTimeout', 'onWarning', 'clock'];

/** Holds each lock by a transaction that has locked its row. COMMIT frees it, and so does the end of its connection. */
export class SqlRowLockProvider implements LockProvider {
  readonly nameLength: number;
  readonly statementTimeoutMs: number;
  readonly #clock: Clock;
  readonly #waitMs: number;
  readonly #table: RowLockTable;
  readonly #held = new Set<HeldRow>();

  /** @throws InvalidLockConfigurationError for SQLite, an invalid option or an invalid identifier */
  constructor(database: SqlDatabase, options: RowLockProviderOptions = {}) {
    checkOptionNames(options, OPTIONS, 'RowLockProvider');
    const {
      nameLength = DEFAULT_NAME_LENGTH,
      maxConnections = 5,
      statementTimeout = '5s',
      wait = 0,
      clock = systemClock,
      onWarning = warnInProcess,
    } = options;
    const table = tableOf('rowLock', options, database);
    if (!Number.isSafeInteger(maxConnections) || maxConnections < 2)
      refuseOption(
        'maxConnections',
        maxConnections,
        'it must be a whole number, 2 or more. Each held lock keeps a connection, and the next attempt needs another one',
      );
    this.nameLength = nameLength;
    this.statementTimeoutMs = parseStatementTimeout(statementTimeout);
    this.#waitMs = waitOf(wait, database);
    this.#clock = clock;
    this.#table = new RowLockTable(database, {
      table,
      clock,
      maxConnections,
      limits: { statementTimeoutMs: this.statementTimeoutMs, idleMs: IDLE_MS, waitMs: this.#waitMs },
      warn: onWarning,
    });
  }

  /** A text in the table. `undefined` until it was read: by `check`, or by the first lock, which inserts it. */
  get id(): string | undefined {
    return this.#table.place.id;
  }

  async refreshId(): Promise<void> {
    await this.#table.place.refresh({ timeoutMs: this.statementTimeoutMs });
  }

  async lock(configuration: LockConfiguration, observer: LockObserver = {}): Promise<Lock | undefined> {
    const terms = checkLockConfiguration(configuration, this.nameLength);
    const { name, lockAtMostForMs, lockAtLeastForMs } = terms;
    const timeoutMs = Math.min(lockAtMostForMs / 3, this.statementTimeoutMs) + this.#waitMs;
    const startedAtMs = this.#clock.monotonicMs();
    await this.#table.place.settle({ timeoutMs: this.statementTimeoutMs }, this.#clock);
    const found = await this.#table.lock(name, { timeoutMs, priority: 'lease' });
    if (found.is === 'held') return undefined;
    const { lockedBy: heldBy, lockUntil: heldUntil, fencingToken = 0 } = found.record;
    if (found.is === 'kept') {
      const isDue = this.#table.seenLocks.takeRead(name, this.#clock.monotonicMs());
      if (isDue) observer.refused?.({ heldBy, heldUntil });
      return undefined;
    }
    const { statementTimeoutMs } = this;
    const owner = newOwner(observer.instance);
    const held: HeldRow = new HeldRow(found, {
      name,
      owner,
      lockAtLeastForMs,
      statementTimeoutMs,
      tables: this.#table.tables,
      onEnded: () => this.#held.delete(held),
    });
    this.#held.add(held);
    const shared = { accessor: held, guard: held, clock: this.#clock, random: Math.random, keepRows: true };
    const lease = new Lease(
      { ...shared, terms, owner, observer, statementTimeoutMs },
      { fencingToken },
      found.sentAt.lease,
    );
    held.lease = lease;
    return await lease.orRelease('its connection', startedAtMs);
  }

  async probe(timeoutMs: number): Promise<void> {
    const limit: Limit = { timeoutMs: Math.min(timeoutMs, this.statementTimeoutMs), priority: 'lease' };
    const { inspect } = await this.#table.ready(limit);
    await this.#table.tables.execute(inspect.bind({ name: PROBED_NAME }), limit);
  }

  /**
   * Checks the table and the kind of the server. Problems that do not stop locks from working are passed to `onWarning`.
   *
   * @throws SchemaMismatchError if the table cannot hold locks safely. The message lists every problem with its fix.
   * @throws InvalidLockConfigurationError on a server whose row locks do not exclude one another
   * @throws LockStorageError if the database cannot be reached. The message contains its address.
   */
  async check(): Promise<void> {
    await this.#table.ready({ timeoutMs: this.statementTimeoutMs, priority: 'lease' });
    await this.#table.place.refresh({ timeoutMs: this.statementTimeoutMs });
  }

  /** Closes all connections. Locks that are still held are lost. */
  async close(): Promise<void> {
    const held = [...this.#held];
    for (const row of held) row.abandon('its provider was closed');
    await Promise.all(held.map((row) => row.ended()));
    await this.#table.close();
  }
}

function waitOf(wait: Duration, { dialect }: SqlDatabase): number {
  const waitMs = parseDuration(wait, 'wait');
  if (dialect.name !== 'mysql' || waitMs % 1000 === 0) return waitMs;
  refuseOption('wait', wait, 'MySQL and MariaDB wait for whole seconds');
}
