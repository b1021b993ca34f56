import { Acquisition, type AcquisitionOptions, type SentGrant } from './acquisition';
import { systemClock, type Clock } from '../clock';
import { Deadline } from './deadline';
import { parsePositiveDuration, type Duration } from '../duration';
import { LockStorageError } from '../errors';
import { SeenLocks } from './seen-locks';
import { LateReleases } from './late-releases';
import { Lease, type LeaseOptions } from './lease';
import type { Lock, LockObserver, LockProvider } from '../lock';
import { checkLockConfiguration, type LockConfiguration, type LockTerms } from '../lock-configuration';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../lock-name';
import { newOwner } from './owner';
import { sendWithin, storageErrorOf } from './statements';
import type { StatementOptions, StorageAccessor } from './storage-accessor';

/** It does not matter whether this lock exists. */
const PROBED_NAME = 'cronlatch-probe';

export interface StorageBasedLockProviderOptions {
  /**
   * Identifies the place of the locks, equal on all instances that share them. Without it, two providers count as two
   * places.
   */
  readonly id?: string | undefined;
  /** The longest name that the store can keep, in characters. Default 64, at most 255. */
  readonly nameLength?: number | undefined;
  /** The longest time limit of a statement. The limit is a third of `lockAtMostFor` if that is shorter. Default 5 s. */
  readonly statementTimeout?: Duration | undefined;
  readonly clock?: Clock | undefined;
  readonly random?: (() => number) | undefined;
}

/** A lock provider on top of any store with a conditional write. */
export class StorageBasedLockProvider implements LockProvider {
  readonly nameLength: number;
  readonly statementTimeoutMs: number;
  readonly #id: string | undefined;
  readonly #accessor: StorageAccessor;
  readonly #clock: Clock;
  readonly #random: () => number;
  readonly #seenLocks = new SeenLocks();
  readonly #lateReleases: LateReleases;

  constructor(accessor: StorageAccessor, options: StorageBasedLockProviderOptions = {}) {
    const {
      id,
      nameLength = DEFAULT_NAME_LENGTH,
      statementTimeout = '5s',
      clock = systemClock,
      random = Math.random,
    } = options;
    this.#id = id;
    this.nameLength = checkNameLength(nameLength);
    this.statementTimeoutMs = parsePositiveDuration(statementTimeout, 'statementTimeout');
    this.#accessor = accessor;
    this.#clock = clock;
    this.#random = random;
    this.#lateReleases = new LateReleases(clock, this.statementTimeoutMs);
  }

  get id(): string | undefined {
    return this.#id;
  }

  async lock(configuration: LockConfiguration, observer: LockObserver = {}): Promise<Lock | undefined> {
    const options: AcquisitionOptions & LeaseOptions = {
      terms: checkLockConfiguration(configuration, this.nameLength),
      owner: newOwner(),
      accessor: this.#accessor,
      clock: this.#clock,
      random: this.#random,
      statementTimeoutMs: this.statementTimeoutMs,
      seenLocks: this.#seenLocks,
      lateReleases: this.#lateReleases,
      observer,
      onReleased: () => {
        const { unsettledSentAtMs } = acquisition;
        if (unsettledSentAtMs === undefined) return;
        this.#lateReleases.add(
          options.owner,
          (timeoutMs) => this.#release(options, timeoutMs),
          unsettledSentAtMs,
        );
      },
    };
    const acquisition = new Acquisition(options);
    let granted: SentGrant | undefined;
    try {
      granted = await acquisition.attempt();
    } finally {
      if (granted === undefined) options.onReleased?.();
    }
    if (granted === undefined) return undefined;
    if (this.#isUseful(granted, options.terms)) return new Lease(options, granted.grant, granted.sentAt);
    return await this.#giveBack(options, granted);
  }

  async probe(timeoutMs: number): Promise<void> {
    const accessor = this.#accessor;
    const context = {
      accessor,
      clock: this.#clock,
      random: this.#random,
      statementTimeoutMs: this.statementTimeoutMs,
    };
    const limitMs = Math.min(timeoutMs, this.statementTimeoutMs);
    const read = (options: StatementOptions): Promise<unknown> =>
      accessor.find(PROBED_NAME, { ...options, purpose: 'inspect' });
    try {
      await sendWithin(context, { name: PROBED_NAME, timeoutMs: limitMs, waitAtMostMs: limitMs }, read);
    } catch (error) {
      throw storageErrorOf(error, PROBED_NAME);
    }
  }

  /**
   * Sends the pending releases, which takes 4.5 s at most, and closes what the accessor itself has opened. Held locks
   * expire with their leases.
   */
  async close(): Promise<void> {
    await this.#lateReleases.close();
    await this.#accessor.close?.();
  }

  /** Whether the grant arrived early enough to work with it. */
  #isUseful({ sentAt }: SentGrant, { lockAtMostForMs, renewEveryMs }: LockTerms): boolean {
    const deadline = Deadline.of(sentAt, lockAtMostForMs, this.#accessor.clockStepMs);
    const least = renewEveryMs === undefined ? lockAtMostForMs / 4 : 0;
    return deadline.remainingMs(this.#clock) > least && deadline.expiryReason(this.#clock) === undefined;
  }

  async #giveBack(options: LeaseOptions, { sentAt }: SentGrant): Promise<never> {
    const { name, lockAtMostForMs } = options.terms;
    const remainingMs = Deadline.of(sentAt, lockAtMostForMs, this.#accessor.clockStepMs).remainingMs(
      this.#clock,
    );
    await this.#release(options, this.statementTimeoutMs);
    options.onReleased?.();
    throw new LockStorageError(
      `Lock '${name}' was granted too late: only ${Math.max(0, Math.round(remainingMs))} ms of its ${lockAtMostForMs} ms were left, so it was released. Set a longer lockAtMostFor.`,
    );
  }

  /** Best effort: a lock that cannot be released here expires with its lease. Never rejects. */
  async #release(options: LeaseOptions, timeoutMs: number): Promise<boolean> {
    const { accessor, terms, owner, observer } = options;
    const { name, lockAtMostForMs, lockAtLeastForMs } = terms;
    const request = { name, owner, lockAtMostForMs, lockAtLeastForMs };
    try {
      const send = (limits: StatementOptions): Promise<boolean> => accessor.unlock(request, limits);
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
