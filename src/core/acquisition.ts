import { pause } from './clock';
import { momentOf, type Moment } from './deadline';
import { LockStorageError } from './errors';
import type { KnownNames } from './known-names';
import type { LockObserver } from './lock';
import type { LockTerms } from './lock-configuration';
import { retryDelayMs, statementLimitMs, storageErrorOf, type StatementContext } from './statement-limits';
import type { Grant, LockRecord, LockRequest } from './storage-accessor';

export interface AcquisitionOptions extends StatementContext {
  readonly terms: LockTerms;
  readonly owner: string;
  readonly knownNames: KnownNames;
  readonly observer: LockObserver;
}

/** A grant, and when the statement that was granted was sent. */
export interface SentGrant {
  readonly grant: Grant;
  readonly sentAt: Moment;
}

const MOST_TRIES = 3;

/**
 * One attempt to get a lock: acquired (a grant), held (`undefined`) or an error. It ends at most two statement
 * limits after its start, tries and settling included.
 */
export class Acquisition {
  readonly #options: AcquisitionOptions;
  readonly #request: LockRequest;
  readonly #limitMs: number;
  readonly #endsAtMs: number;
  #sentAt: Moment;
  /** A statement whose outcome is unknown may still take effect after this attempt has given up. */
  mayBeGrantedLater = false;

  constructor(options: AcquisitionOptions) {
    const { terms, owner, clock } = options;
    const { name, lockAtMostForMs, lockAtLeastForMs } = terms;
    this.#options = options;
    this.#request = { name, owner, lockAtMostForMs, lockAtLeastForMs };
    this.#limitMs = statementLimitMs(options, lockAtMostForMs);
    this.#sentAt = momentOf(clock);
    this.#endsAtMs = this.#sentAt.monotonicMs + 2 * this.#limitMs;
  }

  async attempt(): Promise<SentGrant | undefined> {
    for (let tries = 1; ; tries += 1) {
      try {
        const grant = await this.#updateOrInsert();
        return grant && { grant, sentAt: this.#sentAt };
      } catch (error) {
        const failure = storageErrorOf(error, this.#request.name);
        switch (failure.outcome) {
          case 'nothing-ran':
            throw failure;
          case 'unknown':
            return await this.#resolve(failure);
          case 'contention':
            if (tries >= MOST_TRIES || !(await this.#pause(tries)))
              return await this.#settleContention(failure);
        }
      }
    }
  }

  /** Insert the row the first time, update ever after. Two autocommit statements: in one transaction they deadlock. */
  async #updateOrInsert(): Promise<Grant | undefined> {
    const { accessor, knownNames, clock } = this.#options;
    const { name } = this.#request;
    const grant = await this.#send((options) => accessor.updateRecord(this.#request, options));
    if (grant === undefined && knownNames.has(name)) {
      if (!knownNames.takeLook(name, clock.monotonicMs()) || (await this.#look()) !== undefined)
        return undefined;
    }
    const inserted = grant ?? (await this.#send((options) => accessor.insertRecord(this.#request, options)));
    knownNames.add(name);
    return inserted;
  }

  async #look(): Promise<LockRecord | undefined> {
    const { accessor, observer } = this.#options;
    const record = await this.#send((options) =>
      accessor.find(this.#request.name, { ...options, purpose: 'look' }),
    );
    if (record?.held) observer.refused?.({ heldBy: record.lockedBy, heldUntil: record.lockUntil });
    return record;
  }

  async #resolve(failure: LockStorageError): Promise<SentGrant | undefined> {
    const sentAt = this.#sentAt;
    const record = await this.#readForResolve();
    if (record?.held && record.lockedBy === this.#request.owner) {
      return { grant: { fencingToken: record.fencingToken }, sentAt };
    }
    this.mayBeGrantedLater = true;
    if (record?.held) return undefined;
    throw failure;
  }

  /** Reads until the store answers. `undefined`: it did not, or there is no record. */
  async #readForResolve(): Promise<LockRecord | undefined> {
    const { accessor } = this.#options;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await this.#send((options) =>
          accessor.find(this.#request.name, { ...options, purpose: 'resolve' }),
        );
      } catch {
        // Whatever went wrong here, the caller reports the failure that was to be settled.
        if (!(await this.#pause(attempt))) return undefined;
      }
    }
  }

  async #settleContention(failure: LockStorageError): Promise<undefined> {
    const record = await this.#look().catch(() => undefined);
    if (!record?.held) throw failure;
    return undefined;
  }

  async #send<T>(statement: (options: { timeoutMs: number }) => Promise<T>): Promise<T> {
    this.#sentAt = momentOf(this.#options.clock);
    const timeoutMs = Math.min(this.#limitMs, this.#endsAtMs - this.#sentAt.monotonicMs);
    if (timeoutMs <= 0) {
      throw new LockStorageError(`No time was left to ask for lock '${this.#request.name}'.`, {
        outcome: 'nothing-ran',
      });
    }
    return await statement({ timeoutMs });
  }

  /** @returns `false`, at once, when no time would be left after the pause */
  async #pause(attempt: number): Promise<boolean> {
    const delayMs = retryDelayMs(this.#options, attempt);
    if (this.#options.clock.monotonicMs() + delayMs >= this.#endsAtMs) return false;
    await pause(this.#options.clock, delayMs);
    return true;
  }
}
