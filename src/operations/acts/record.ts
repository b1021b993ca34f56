import { randomUUID } from 'node:crypto';
import { LockStorageError } from '../../core';
import { newOwner } from '../../core/lease/owner';
import type { ActState, ActStore } from '../../ledger';
import { limitOf } from '../../ledger/store-statements';
import { storedText } from '../../ledger/tick/stored-text';
import type { Act, ActResult, ActSubject, Desk, Values } from './act';

/** If an act takes longer, or its process dies, its record shows that it is unknown whether it was done. */
const LEASE_MS = 120_000;
const RENEW_EVERY_MS = 30_000;

/** The row of an act, which is written before its effect. */
export class ActRecord {
  readonly id = randomUUID();
  readonly #owner: string;
  /** Why there is no row. */
  #missing: string | undefined;
  #stopRenewing = (): void => {};

  private constructor(
    private readonly desk: Desk,
    private readonly store: ActStore | undefined,
  ) {
    this.#owner = newOwner(desk.parts.executor.instance);
    if (store === undefined) this.#missing = 'this guard keeps no acts.';
  }

  /** @throws LockStorageError if the row of an act that is not on a lock cannot be written. Then nothing was done. */
  static async begin(
    { verb, of }: Act,
    desk: Desk,
    { before, ...subject }: ActSubject & { readonly values: Values },
  ): Promise<ActRecord> {
    const { context } = desk.parts.oncePerRunner ?? {};
    const record = new ActRecord(desk, context?.store.acts);
    const { values, ...about } = subject;
    const detail = storedText(JSON.stringify({ values, before }));
    const row = { ...about, ...desk.by, id: record.id, verb, detail, state: 'taken' } as const;
    try {
      if (context)
        await record.store?.add({ ...row, takenBy: record.#owner, leaseMs: LEASE_MS }, limitOf(context));
    } catch (error) {
      const isOnLock = of === 'lock' || values['locks'] === true;
      if (!isOnLock || !(error instanceof LockStorageError)) throw error;
      record.#warn(verb, error);
    }
    record.#renewLater();
    return record;
  }

  /** A renewal that fails is repeated at the next one. */
  #renewLater(): void {
    const { oncePerRunner, clock } = this.desk.parts;
    const renew = (): void => {
      this.#renewLater();
      const change = { state: 'taken', afterMs: LEASE_MS } as const;
      if (oncePerRunner)
        this.store?.change(this.id, this.#owner, change, limitOf(oncePerRunner.context)).catch(() => {});
    };
    this.#stopRenewing = clock.schedule(RENEW_EVERY_MS, renew, { keepAlive: false });
  }

  /** It stays unknown whether the act was done. */
  stop(): void {
    this.#stopRenewing();
  }

  async end(state: ActState, outcome?: string): Promise<void> {
    this.stop();
    const { context } = this.desk.parts.oncePerRunner ?? {};
    if (this.#missing !== undefined || !context) return;
    const change = { state, outcome: outcome && storedText(outcome) };
    try {
      await this.store?.change(this.id, this.#owner, change, limitOf(context));
    } catch (error) {
      if (!(error instanceof LockStorageError)) throw error;
      this.#warn('an act', error);
    }
  }

  result(text: string): Pick<ActResult, 'text' | 'act'> {
    if (this.#missing === undefined) return { text, act: this.id };
    return { text: `${text} Not recorded: ${this.#missing}`, act: undefined };
  }

  #warn(what: string, error: LockStorageError): void {
    this.#missing = error.message;
    this.desk.parts.events.warn(`Could not record ${what} by ${this.desk.by.actor}.`, error);
  }
}
