import type { StatementOptions } from '../core';

/** Asks an instance to run a job now, or to send a notice. */
export interface NewRequest {
  /** At most 64 characters. No two requests have the same. */
  readonly id: string;
  readonly kind: 'run' | 'notice';
  readonly job: string;
  readonly scope: string;
  readonly periodKey: string | undefined;
  /** The operator, or the instance that noticed the event. At most 255 characters. */
  readonly actor: string;
  /** Of a notice: what to send, as JSON. At most 8 KiB. */
  readonly reason: string;
  /** Counts from now, as the expiry does. */
  readonly dueInMs: number;
  readonly expiresInMs: number;
}

export type RequestState =
  'open' | 'taken' | 'completed' | 'failed' | 'skipped' | 'interrupted' | 'sent' | 'dropped';

/** A row. All instants are the database's. */
export interface StoredRequest extends Omit<NewRequest, 'dueInMs' | 'expiresInMs'> {
  readonly state: RequestState;
  readonly createdAt: Date;
  readonly dueAt: Date;
  readonly expiresAt: Date;
  readonly takenBy: string | undefined;
  /** An instance that takes it and does not renew this lease has crashed. */
  readonly leaseUntil: Date | undefined;
  /** How often it was taken. */
  readonly attempt: number;
  readonly endedAt: Date | undefined;
  readonly outcome: string | undefined;
}

/** What its taker makes of a request. `taken` renews the lease; `open` gives it back, due after a delay. Others end it. */
export interface RequestChange {
  readonly state: RequestState;
  /** Of the lease, or until it is due again. */
  readonly afterMs?: number | undefined;
  readonly outcome?: string | undefined;
}

/** Requests that instances take by a conditional write. Each method is one step, as in `RunStore`. */
export interface RequestStore {
  /** Adds a request. `replaces`: an ended or expired one with this id, too. `false`: there is one, nothing was written. */
  add(
    request: NewRequest,
    options: StatementOptions & { readonly replaces?: boolean | undefined },
  ): Promise<boolean>;
  /** One plain read of at most 1,000 requests that have not ended: open ones that have not expired, and taken ones. */
  pending(
    options: StatementOptions,
  ): Promise<{ readonly now: Date; readonly requests: readonly StoredRequest[] }>;
  find(id: string, options: StatementOptions): Promise<StoredRequest | undefined>;
  /**
   * Takes a request that is open and due, or whose taker has let its lease expire.
   *
   * @param taker.owner unique for each attempt. At most 255 characters
   * @returns `false` if another instance was first, or its time has not come
   */
  take(
    id: string,
    taker: { readonly owner: string; readonly leaseMs: number },
    options: StatementOptions,
  ): Promise<boolean>;
  /** @returns `false` if the owner does not have the request any more: nothing was written */
  change(id: string, owner: string, change: RequestChange, options: StatementOptions): Promise<boolean>;
  /** Deletes at most 1,000 notices that ended longer ago than this. */
  purge(olderThanMs: number, options: StatementOptions): Promise<void>;
}
