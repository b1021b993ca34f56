import { Acquisition, type AcquisitionOptions } from './acquisition';
import { Deadline, systemClock, type Clock } from '../clock';
import { refuseOption } from '../options';
import { parseStatementTimeout, type Duration } from '../duration';
import { InvalidLockConfigurationError, LockStorageError } from '../errors';
import { SeenLocks } from './seen-locks';
import { LateReleases } from './late-releases';
import { latenessOf, Lease, type LeaseOptions } from './lease';
import type { Lock, LockObserver, LockPage, LockProvider, LockState } from '../lock';
import { checkLockConfiguration, type LockConfiguration } from '../lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH, PROBED_NAME } from '../lock-name';
import { LockRecords } from './lock-records';
import { newOwner } from './owner';
import { releaseRecord, sendWithin, type SentGrant, type StatementContext } from './statements';
import type { StatementOptions, StorageAccessor } from './storage-accessor';

export interface StorageBasedLockProviderOptions {
  /** The place of the locks, equal on all instances that share them. Without it, two providers count as two places. */
  readonly id?: string | undefined;
  /** The longest name that the store can keep, in characters. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
  /** The longest time limit of a statement. The limit is a third of `lockAtMostFor` if that is shorter. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  /**
   * `false`: a release deletes the record, so that locks named after orders, users or files do not pile up. A lock that
   * `lockAtLeastFor` keeps, and the lock of a crashed holder, leave their records to `purge` of `operations(guard)`. While a
   * record is gone, the next token comes from the store's clock alone: if that clock is set back, a token can repeat.
   * Default `true`.
   */
  readonly keepRows?: boolean | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** A lock provider on top of any store with a conditional write. */
export class StorageBasedLockProvider implements LockProvider {
  readonly nameLength: number;
  readonly statementTimeoutMs: number;
  readonly #id: string | undefined;
  readonly #context: StatementContext & Pick<AcquisitionOptions, 'accessor'>;
  readonly #records: LockRecords;
  readonly #seenLocks = new SeenLocks();
  readonly #lateReleases: LateReleases;

  /** @throws InvalidLockConfigurationError for an invalid option */
  constructor(accessor: StorageAccessor, options: StorageBasedLockProviderOptions = {}) {
    const { id, nameLength = DEFAULT_NAME_LENGTH, statementTimeout = '5s', keepRows = true } = options;
    const { clock = systemClock, random = Math.random } = options;
    this.#id = id;
    this.nameLength = checkNameLength(nameLength);
    this.statementTimeoutMs = parseStatementTimeout(statementTimeout);
    if (typeof keepRows !== 'boolean') refuseOption('keepRows', keepRows, 'use true or false');
    if (!keepRows && !(accessor.deleteRecord && accessor.deleteExpired))
      throw new InvalidLockConfigurationError(
        `keepRows: false needs a store that can delete records: its accessor has no deleteRecord or no deleteExpired.`,
      );
    this.#context = { accessor, clock, random, keepRows, statementTimeoutMs: this.statementTimeoutMs };
    this.#records = new LockRecords(this.#context, this.nameLength);
    this.#lateReleases = new LateReleases(clock, this.statementTimeoutMs);
  }

  get id(): string | undefined {
    return this.#id;
  }

  async lock(configuration: LockConfiguration, observer: LockObserver = {}): Promise<Lock | undefined> {
    const { accessor, clock } = this.#context;
    const startedAtMs = clock.monotonicMs();
    const { statementTimeoutMs: timeoutMs = this.statementTimeoutMs } = observer;
    const preparation = accessor.prepare?.(clock, { timeoutMs });
    if (preparation !== undefined) await preparation; // Otherwise, the statement is sent at once.
    const granted = await this.#acquire(configuration, newOwner(observer.instance), observer);
    if (granted === undefined) return undefined;
    const { grant, sentAt, options, writtenAtMs } = granted;
    const evaluatedAtMs = accessor.waitsForNodes === false ? writtenAtMs : clock.monotonicMs();
    const deadline = new Deadline(sentAt, options.terms.lockAtMostForMs, accessor.clockStepMs);
    const remedy = ', so it was released. Set a longer lockAtMostFor.';
    const lateness = latenessOf(deadline, options, { waitedMs: evaluatedAtMs - startedAtMs, remedy });
    if (lateness === undefined) return new Lease(options, grant, sentAt);
    const terms = { ...options.terms, lockAtLeastForMs: 0 }; // No job has begun.
    await this.#release({ ...options, terms }, this.statementTimeoutMs);
    options.onReleased?.();
    throw new LockStorageError(`Lock '${terms.name}' was granted too late: ${lateness}`);
  }

  async hold(
    name: string,
    { owner, lockAtMostFor }: { readonly owner: string; readonly lockAtMostFor: Duration },
  ): Promise<boolean> {
    return (await this.#acquire({ name, lockAtMostFor }, owner, {})) !== undefined;
  }

  async probe(timeoutMs: number): Promise<void> {
    await this.#records.inspect(PROBED_NAME, Math.min(timeoutMs, this.statementTimeoutMs));
  }

  inspect(name: string): Promise<LockState | undefined> {
    return this.#records.inspect(name);
  }

  list(page: LockPage): Promise<readonly LockState[]> {
    return this.#records.list(page);
  }

  forceRelease(name: string, owner: string): Promise<boolean> {
    return this.#records.forceRelease(name, owner);
  }

  purge(olderThanMs: number): Promise<number> {
    return this.#records.purge(olderThanMs);
  }

  /** Sends pending releases (4.5 s at most), and closes what the accessor has opened. Held locks expire. */
  async close(): Promise<void> {
    await this.#lateReleases.close();
    await this.#context.accessor.close?.();
  }

  async #acquire(configuration: LockConfiguration, owner: string, observer: LockObserver) {
    const options: AcquisitionOptions = {
      terms: checkLockConfiguration(configuration, this.nameLength),
      owner,
      seenLocks: this.#seenLocks,
      lateReleases: this.#lateReleases,
      observer,
      onReleased: () => {
        const { unsettledSentAtMs } = acquisition;
        if (unsettledSentAtMs === undefined) return;
        this.#lateReleases.add(owner, (timeoutMs) => this.#release(options, timeoutMs), unsettledSentAtMs);
      },
      ...this.#context,
    };
    const acquisition = new Acquisition(options);
    let granted: SentGrant | undefined;
    try {
      granted = await acquisition.attempt();
    } finally {
      if (granted === undefined) options.onReleased?.();
    }
    return granted && { ...granted, options, writtenAtMs: acquisition.lastWriteAtMs };
  }

  /** Best effort: a lock that cannot be released here expires with its lease. Never rejects. */
  async #release(options: LeaseOptions, timeoutMs: number): Promise<boolean> {
    const { terms, owner, observer } = options;
    const { name, lockAtMostForMs, lockAtLeastForMs } = terms;
    const request = { name, owner, lockAtMostForMs, lockAtLeastForMs };
    try {
      const send = (limits: StatementOptions): Promise<boolean> => releaseRecord(options, request, limits);
      return await sendWithin(options, { name, timeoutMs, waitAtMostMs: timeoutMs }, send);
    } catch (error) {
      observer.warning?.(
        `Lock '${name}' could not be released. It stays locked until its lease expires.`,
        error,
      );
      return false;
    }
  }
}
