import { randomUUID } from 'node:crypto';
import { LockStorageError, noneAfter } from '../../core';
import { newOwner } from '../../core/lease/owner';
import type { ActState } from '../../ledger';
import { keepTaken, TAKEN_MS } from '../../ledger/operator/request-run';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import { storedText } from '../../ledger/tick/stored-text';
import type { Act, ActResult, ActSubject, Desk, Values } from './act';

/** The row of an act, which is written before its effect. */
export class ActRecord {
  readonly id = randomUUID();
  readonly #owner: string;
  readonly #context: LedgerContext | undefined;
  /** Why it has no row. */
  #missing: string | undefined;
  /** If its process dies, the row shows that it is unknown whether the act was done. */
  stopRenewing = (): void => {};

  private constructor(private readonly desk: Desk) {
    this.#owner = newOwner(desk.parts.executor.instance);
    this.#context = desk.parts.oncePerRunner?.context;
  }

  /** @throws LockStorageError if the row of an act that is not on a lock cannot be written. Then nothing was done. */
  static async begin(
    { verb, of }: Act,
    desk: Desk,
    { before, values, ...about }: ActSubject & { readonly values: Values },
  ): Promise<ActRecord> {
    const record = new ActRecord(desk);
    const context = record.#context;
    if (context?.store.acts === undefined) {
      record.#warn(verb, 'this guard keeps no acts.');
      return record;
    }
    const detail = storedText(JSON.stringify({ values, before }));
    const taken = { state: 'taken', takenBy: record.#owner, leaseMs: TAKEN_MS } as const;
    try {
      const row = { ...about, ...desk.by, ...taken, id: record.id, verb, detail };
      await context.store.acts.add(row, limitOf(context));
      record.stopRenewing = keepTaken(context, record.id, record.#owner);
    } catch (error) {
      const isOnLock = of === 'lock' || values['locks'] === true;
      if (!isOnLock || !(error instanceof LockStorageError)) throw error;
      record.#warn(verb, error.message, error);
    }
    return record;
  }

  async end(state: ActState, outcome?: string): Promise<void> {
    this.stopRenewing();
    if (this.#missing !== undefined || this.#context === undefined) return;
    const change = { state, outcome: outcome && storedText(outcome) };
    try {
      await this.#context.store.acts?.change(this.id, this.#owner, change, limitOf(this.#context));
    } catch (error) {
      if (!(error instanceof LockStorageError)) throw error;
      this.#warn('an act', error.message, error);
    }
  }

  /** The act of another operator since this one began, which can have changed what this one is about. */
  async describeOther({ before: _before, ...about }: ActSubject): Promise<string> {
    if (this.#context === undefined) return '';
    // The clocks of this host and of the database differ by less than a minute.
    const since = new Date(this.desk.begunAtMs - 60_000);
    // An act on a run of a job does not change its lock.
    const subject = about.lock === undefined ? about : { lock: about.lock };
    const query = { ...subject, since, limit: 100 };
    const acts = await this.#context.store.acts
      ?.list(query, limitOf(this.#context))
      .catch(noneAfter(LockStorageError));
    const other = acts?.find(({ id, state }) => id !== this.id && state !== 'refused' && state !== 'failed');
    if (other === undefined) return '';
    const { verb, actor, at, reason } = other;
    return ` The last act on it: ${verb} by ${actor} ${this.desk.when(at, { timeZone: 'UTC', now: new Date() })}: ${reason}.`;
  }

  result(text: string): Pick<ActResult, 'text' | 'act'> {
    if (this.#missing === undefined) return { text, act: this.id };
    return { text: `${text} Not recorded: ${this.#missing}`, act: undefined };
  }

  #warn(what: string, why: string, error?: LockStorageError): void {
    this.#missing = why;
    this.desk.parts.events.warn(
      `Could not record ${what} by ${this.desk.by.actor}${error ? '.' : `: ${why}`}`,
      error,
    );
  }
}
