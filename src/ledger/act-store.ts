import type { StatementOptions } from '../core';

/** What an operator did, or asked for. Also a notice that waits to be sent, in a table of its own. */
export interface NewAct {
  /** At most 64 characters. No two rows have the same. */
  readonly id: string;
  readonly verb: string;
  readonly job?: string | undefined;
  readonly scope?: string | undefined;
  readonly periodKey?: string | undefined;
  readonly lock?: string | undefined;
  /** The operator, or the instance that noticed something. At most 255 characters. */
  readonly actor: string;
  readonly reason: string;
  /** JSON of at most 8 KiB: the values of its fields, and the state before it. Of a notice: what to send. */
  readonly detail?: string | undefined;
  /** At most 64 characters. Until the row has ended, no other one has the same. */
  readonly openKey?: string | undefined;
  readonly state: 'open' | 'taken' | 'done';
  /** Counts from now, as the expiry does. Default 0 */
  readonly dueInMs?: number;
  readonly expiresInMs?: number;
  /** Who does it, with a lease, if it is taken from the start. */
  readonly takenBy?: string | undefined;
  readonly leaseMs?: number | undefined;
}

/**
 * - `open`: it waits for an instance, or has expired: see `expiresAt`.
 * - `taken`: it is being done. If its lease has ended, it is unknown whether it was done.
 * - `done`, `refused`, `failed`: how it ended. `outcome` has the reason.
 * - `withdrawn`: a notice about a pause that an operator has ended early.
 */
export type ActState = 'open' | 'taken' | 'done' | 'refused' | 'failed' | 'withdrawn';

/** A row. All instants are the database's. */
export interface StoredAct extends Omit<
  NewAct,
  'state' | 'dueInMs' | 'expiresInMs' | 'leaseMs' | 'openKey' | 'scope'
> {
  readonly scope: string;
  readonly state: ActState;
  readonly at: Date;
  readonly dueAt: Date;
  readonly expiresAt: Date;
  readonly leaseUntil: Date | undefined;
  /** How often it was taken. */
  readonly tries: number;
  readonly endedAt: Date | undefined;
  readonly outcome: string | undefined;
}

/** What its taker makes of a row. `taken` renews the lease; `open` gives it back, due after a delay. Others end it. */
export interface ActChange {
  readonly state: ActState;
  /** Of the lease, or until it is due again. */
  readonly afterMs?: number | undefined;
  readonly outcome?: string | undefined;
}

export interface ActQuery {
  readonly verb?: string | undefined;
  /** Acts on this job, and those on this lock. */
  readonly job?: string | undefined;
  readonly lock?: string | undefined;
  readonly scope?: string | undefined;
  readonly periodKey?: string | undefined;
  readonly since?: Date | undefined;
  readonly limit: number;
}

/** Acts or notices, which instances take by a conditional write. Each method is one step, as in `RunStore`. */
export interface ActStore {
  /** Ends an expired row with the same `openKey`. `false`: there is one that has not ended, nothing was written. */
  add(act: NewAct, options: StatementOptions): Promise<boolean>;
  /** One plain read of at most 1,000 with this verb that wait or are taken, the earliest due first. */
  pending(
    verb: string,
    options: StatementOptions,
  ): Promise<{ readonly now: Date; readonly acts: readonly StoredAct[] }>;
  /** The newest first, of the newest 1,000 that match in their job, lock and time. */
  list(query: ActQuery, options: StatementOptions): Promise<readonly StoredAct[]>;
  /**
   * Takes a row that is open and due, or whose taker has let its lease expire.
   *
   * @param taker.owner unique for each attempt. At most 255 characters
   * @returns `false` if another instance was first, or its time has not come
   */
  take(
    id: string,
    taker: { readonly owner: string; readonly leaseMs: number },
    options: StatementOptions,
  ): Promise<boolean>;
  /** @returns `false` if the owner does not have the row any more: nothing was written */
  change(id: string, owner: string, change: ActChange, options: StatementOptions): Promise<boolean>;
  /** Deletes those that ended, expired or lost their taker longer ago than this. */
  purge(olderThanMs: number, options: StatementOptions): Promise<void>;
}
