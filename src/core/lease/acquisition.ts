import { momentOf, pause, statementRetryDelayMs, type Moment } from '../clock';
import { DAY_MS } from '../duration';
import { LockStorageError } from '../errors';
import type { LateReleases } from './late-releases';
import { describeAhead } from './lock-records';
import type { LeaseOptions } from './lease';
import type { SeenLocks } from './seen-locks';
import { sendWithin, statementLimitMs, storageErrorOf, unknownOutcome, type SentGrant } from './statements';
import type { Grant, LockRecord, LockRequest, StatementOptions, StorageAccessor } from './storage-accessor';

export interface AcquisitionOptions extends LeaseOptions {
  readonly accessor: StorageAccessor;
  readonly seenLocks: SeenLocks;
  readonly lateReleases: LateReleases;
}

/** The longest time that a request waits for a connection, even if its `lockAtLeastFor` is longer. */
const LONGEST_CONNECTION_WAIT_MS = 30_000;

const MOST_TRIES = 3;
/** How often the record of a lock may be deleted between an insert and an update before the attempt fails. */
const MOST_ROUNDS = 3;
/** A duration is at most 365 days. Clocks may differ by a day. */
const LONGEST_LEASE_MS = 366 * DAY_MS;

/**
 * One attempt to acquire a lock:
 *
 * 1. Update the record, or insert it if there is none. Without `keepRows`, try the insert first.
 * 2. If another process holds the lock, read its holder, at most once a minute per name, and return `undefined`.
 * 3. If the outcome of a statement is unknown, read the record from the primary. If it holds our owner, we have the lock.
 * 4. Otherwise retry a failed statement under the same owner, up to three tries, and throw when the time has passed.
 *
 * All statements together take at most two statement limits. Before them, the attempt waits for a connection for
 * `lockAtLeastFor`, but at most 30 s. After a longer wait, it could repeat a tick that another instance has run.
 */
export class Acquisition {
  readonly #request: LockRequest;
  readonly #limitMs: number;
  readonly #waitsUntilMs: number;
  #endsAtMs: number;
  #sentAt: Moment;
  /** When the first statement with an unknown outcome was sent. */
  #unsettledSentAt: Moment | undefined;
  /** When the last write was sent. Monotonic. */
  lastWriteAtMs = 0;

  constructor(private readonly options: AcquisitionOptions) {
    const { terms, owner, clock, observer, accessor } = options;
    const { name, lockAtMostForMs, lockAtLeastForMs } = terms;
    this.#request = { name, owner, lockAtMostForMs, lockAtLeastForMs };
    this.#limitMs = Math.min(
      statementLimitMs(options, lockAtMostForMs),
      observer.statementTimeoutMs ?? Infinity,
    );
    this.#sentAt = momentOf(clock);
    this.#endsAtMs = this.#sentAt.monotonicMs + 2 * this.#limitMs;
    const mayWait = accessor.keepsTimeLimits === true && observer.statementTimeoutMs === undefined;
    const longestMs = mayWait ? Math.min(lockAtLeastForMs, LONGEST_CONNECTION_WAIT_MS) : 0;
    this.#waitsUntilMs = this.#sentAt.monotonicMs + longestMs;
  }

  /** When the last write was sent, if a write of this attempt may still take effect after its end. Monotonic. */
  get unsettledSentAtMs(): number | undefined {
    return this.#unsettledSentAt === undefined ? undefined : this.lastWriteAtMs;
  }

  async attempt(): Promise<SentGrant | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        const { keepRows } = this.options;
        const grant = await (keepRows ? this.#updateOrInsert() : this.#insertOrUpdate());
        // Some stores cannot distinguish which of our statements has written the record.
        if (grant !== undefined) return { grant, sentAt: this.#unsettledSentAt ?? this.#sentAt };
        // Our own earlier statement may be the holder.
        return this.#unsettledSentAt === undefined ? undefined : this.#grantIn(await this.#find('resolve'));
      } catch (error) {
        const failure = storageErrorOf(error, this.#request.name);
        if (failure.outcome === 'nothing-ran') throw this.#ofAttempt(failure);
        const settled = failure.outcome === 'unknown' ? await this.#resolve(failure) : 'free';
        if (settled !== 'free') return settled;
        if (tries < MOST_TRIES && (await this.#pause(tries, this.#limitMs))) continue;
        // After contention, another process holds the lock, or an earlier statement of this attempt.
        const isContended = failure.outcome === 'contention';
        const holder = isContended ? await this.#find('resolve').catch(() => undefined) : undefined;
        if (!holder?.held) throw this.#ofAttempt(failure); // And not that of the read.
        const grant = this.#grantIn(holder);
        if (grant === undefined) this.#lookAt(holder);
        return grant;
      }
    }
  }

  #ofAttempt(failure: LockStorageError): LockStorageError {
    return this.#unsettledSentAt === undefined ? failure : unknownOutcome(failure);
  }

  /** Inserts the row only the first time. Both statements autocommit: in one transaction they would deadlock. */
  async #updateOrInsert(): Promise<Grant | undefined> {
    const { accessor, seenLocks, clock } = this.options;
    const { name } = this.#request;
    const answer = await this.#write((options) => accessor.updateRecord(this.#request, options));
    if (isGrant(answer)) {
      seenLocks.add(name);
      return answer;
    }
    const isHeld = answer !== 'missing' && (answer !== undefined || seenLocks.has(name));
    if (isHeld) {
      if (!seenLocks.takeRead(name, clock.monotonicMs()) && answer !== undefined) return undefined;
      const isRead = typeof answer === 'object';
      const record = isRead ? this.#lookAt(answer.heldBy) : await this.#readHolder('inspect');
      if (await this.#isFreed(record)) return await this.#updateOrInsert();
      if (record !== undefined || answer === 'held') return undefined;
    }
    if (seenLocks.has(name)) accessor.onMissing?.();
    const grant = await this.#write((options) => accessor.insertRecord(this.#request, options));
    if (grant === undefined) await this.#checkRefusedInsert();
    seenLocks.add(name);
    return grant;
  }

  /** For stores whose releases delete the record, so that most attempts find none. */
  async #insertOrUpdate(): Promise<Grant | undefined> {
    const { accessor, seenLocks, clock } = this.options;
    const { name } = this.#request;
    let isMissing = false;
    for (let round = 1; ; round += 1) {
      const inserted = await this.#write((options) => accessor.insertRecord(this.#request, options));
      if (inserted !== undefined) return inserted;
      const answer = await this.#write((options) => accessor.updateRecord(this.#request, options));
      if (isGrant(answer)) return answer;
      if (answer !== 'missing') {
        if (!isMissing && !seenLocks.takeRead(name, clock.monotonicMs())) return undefined;
        const record = await this.#readHolder('inspect');
        if (await this.#isFreed(record)) continue;
        if (record !== undefined) return undefined;
      }
      isMissing = true;
      if (round < MOST_ROUNDS) continue;
      await this.#checkRefusedInsert();
      return undefined;
    }
  }

  /** Releases a lock that no job holds: its statement took effect after the release that was sent behind it. */
  async #isFreed(record: LockRecord | undefined): Promise<boolean> {
    const { lateReleases, observer } = this.options;
    if (!record?.held || this.#leftMs() < this.#limitMs) return false;
    const isFreed = await lateReleases.resend(record.lockedBy, this.#limitMs);
    if (isFreed)
      observer.warning?.(
        `A delayed statement of this process took lock '${this.#request.name}' after its job had stopped waiting. No job held it, so it was released.`,
        undefined,
      );
    return isFreed;
  }

  /** The store refused the insert, so there must be a record. Reads the primary, because a replica may lag behind. */
  async #checkRefusedInsert(): Promise<void> {
    const { clock, seenLocks, keepRows } = this.options;
    const { name } = this.#request;
    seenLocks.takeRead(name, clock.monotonicMs());
    if ((await this.#readHolder('resolve')) !== undefined) return;
    seenLocks.forget(name);
    throw new LockStorageError(
      `Could not insert the record of lock '${name}', although no process holds the lock. ` +
        `Does a trigger or a rule drop the insert? Remove it. On a cluster, another server may not have applied the record yet: connect all instances to the same server.`,
      // Without kept records, other processes may have inserted and deleted one between any two of our statements.
      { outcome: keepRows ? 'nothing-ran' : 'contention' },
    );
  }

  async #readHolder(purpose: 'inspect' | 'resolve'): Promise<LockRecord | undefined> {
    const record = await this.#find(purpose);
    return record && this.#lookAt(record);
  }

  #lookAt(record: LockRecord): LockRecord {
    const { clock, seenLocks, observer } = this.options;
    const { name } = this.#request;
    if (!record.held) return record;
    const { lockedBy: heldBy, lockUntil: heldUntil } = record;
    observer.refused?.({ heldBy, heldUntil });
    const endsInMs = heldUntil.getTime() - clock.wallMs();
    const warning =
      endsInMs > LONGEST_LEASE_MS
        ? `Lock '${name}' is held until ${heldUntil.toISOString()} by '${heldBy}', longer than any lease lasts. If no process holds it, end its lease by hand.`
        : describeAhead({ ...record, name });
    if (warning !== undefined && seenLocks.isFirstWarning(name)) observer.warning?.(warning, undefined);
    // If this host's clock is wrong, the end may lie in its past.
    if (endsInMs > 0) seenLocks.expectEnd(name, clock.monotonicMs() + endsInMs);
    return record;
  }

  /** Settles an unknown outcome. The statement may still take effect, so a retry uses the same owner, in any order. */
  async #resolve(failure: LockStorageError): Promise<SentGrant | undefined | 'free'> {
    this.#unsettledSentAt ??= this.#sentAt;
    for (let attempt = 0; ; attempt += 1) {
      try {
        const record = await this.#find('resolve');
        return record?.held ? this.#grantIn(record) : 'free';
      } catch {
        // The caller gets the failure of the statement, not that of this read.
        if (!(await this.#pause(attempt))) throw failure;
      }
    }
  }

  #grantIn(record: LockRecord | undefined): SentGrant | undefined {
    if (!record?.held || record.lockedBy !== this.#request.owner) return undefined;
    const { fencingToken } = record;
    return { grant: { fencingToken }, sentAt: this.#unsettledSentAt ?? this.#sentAt };
  }

  #find(purpose: 'inspect' | 'resolve'): Promise<LockRecord | undefined> {
    return this.#send((options) => this.options.accessor.find(this.#request.name, { ...options, purpose }));
  }

  /** A write gets its whole time limit or is not sent: one that outlived its sender would take the lock for no job. */
  #write<T>(statement: (options: StatementOptions) => Promise<T>): Promise<T> {
    const endsAtMs = this.#endsAtMs;
    if (this.#leftMs() < this.#limitMs)
      throw new LockStorageError(
        `Could not request lock '${this.#request.name}': earlier statements took the whole time limit. Check why the database is slow.`,
        { outcome: 'nothing-ran' },
      );
    const beganMs = this.options.clock.monotonicMs();
    const connectionWaitMs = Math.max(0, this.#waitsUntilMs - beganMs);
    const onSending = (): void => {
      const sentAt = momentOf(this.options.clock);
      this.lastWriteAtMs = sentAt.monotonicMs;
      const waitedMs = sentAt.monotonicMs - beganMs;
      // After a longer wait, the lease is trusted from its beginning, which is always safe.
      if (waitedMs > connectionWaitMs) return;
      this.#sentAt = sentAt;
      this.#endsAtMs = endsAtMs + waitedMs;
    };
    const sending = this.#send((options) => statement({ connectionWaitMs, onSending, ...options }));
    this.lastWriteAtMs = this.#sentAt.monotonicMs;
    return sending;
  }

  #send<T>(statement: (options: StatementOptions) => Promise<T>): Promise<T> {
    this.#sentAt = momentOf(this.options.clock);
    const timeoutMs = Math.min(this.#limitMs, Math.max(0, this.#leftMs()));
    return sendWithin(this.options, { name: this.#request.name, timeoutMs }, statement);
  }

  #leftMs(): number {
    return this.#endsAtMs - this.options.clock.monotonicMs();
  }

  /** @returns `false` without a pause if less than `neededMs` would be left after it */
  async #pause(attempt: number, neededMs = 0): Promise<boolean> {
    const delayMs = statementRetryDelayMs(this.options, attempt);
    if (this.#leftMs() - delayMs <= neededMs) return false;
    await pause(this.options.clock, delayMs);
    return true;
  }
}

function isGrant(answer: Awaited<ReturnType<StorageAccessor['updateRecord']>>): answer is Grant {
  return typeof answer === 'object' && !('heldBy' in answer);
}
