import type { RunState } from 'cronlatch/provider';

/** In minutes, as all times in the model. */
export const LEASE = 10;
export const RETRY_DELAY = 5;

export interface ModelPolicy {
  readonly maxAttempts: number;
  readonly onCrash: 'retry' | 'hold';
  /** Minutes after the start of the first attempt; `undefined` means no limit. */
  readonly until: number | undefined;
}

/** How a handler ends. The holder of a lost handler has crashed, and may come back. */
export type Ending =
  'completes' | 'throws' | 'throws fatal' | 'gives back' | 'is stopped' | 'skips' | 'is lost';

/** An attempt, which identifies its holder. */
export interface ModelClaim {
  readonly generation: number;
  readonly attempt: number;
}

interface Row {
  state: RunState;
  generation: number;
  attempt: number;
  dueAt: number | undefined;
  firstStartedAt: number | undefined;
  startedAt: number | undefined;
}

/** The run of one period as § 4 of the contract describes it: a row, the lock of its job, and the time. */
export class RunModel {
  now = 0;
  row: Row | undefined;
  #lock: { claim: ModelClaim; until: number } | undefined;

  constructor(readonly policy: ModelPolicy) {}

  /** Whether an instance would start the run without a tick. */
  get isOverdue(): boolean {
    return this.row !== undefined && (this.row.state === 'running' || this.#isDue(this.row));
  }

  /** Claims the run. @returns the attempt that starts, or the reason why none does */
  ask(): ModelClaim | string {
    const refusal = this.#refusal();
    if (refusal !== undefined) return refusal;
    if (this.#lock !== undefined && this.#lock.until > this.now) return 'locked';
    const { row, policy } = this;
    if (row === undefined) {
      this.row = this.#newRow('running');
      return this.#begin(this.row);
    }
    // An instance that gets the lock knows that the holder before it has crashed.
    if (row.state === 'running' && policy.onCrash === 'hold') return (row.state = 'interrupted');
    if (this.#isSpent(row)) {
      Object.assign(row, { state: 'failed', dueAt: undefined });
      return 'exhausted';
    }
    return this.#begin(row);
  }

  /** Ends the latest attempt, or crashes its holder together with the lock. */
  end(claim: ModelClaim, ending: Ending): void {
    if (ending === 'is lost') this.#lock = { claim, until: this.now + LEASE };
    else this.#record(claim, ending);
  }

  /** A crashed holder comes back. @returns whether its completion counts */
  comeBack(claim: ModelClaim, ending: 'completes' | 'throws'): boolean {
    if (this.#lock !== undefined && isSame(this.#lock.claim, claim)) this.#lock = undefined;
    return this.#record(claim, ending);
  }

  /** @returns whether the rerun is allowed */
  rerun(force: boolean): boolean {
    const { row } = this;
    const isLeft = row?.state === 'completed' || row?.state === 'running' ? force : row?.state !== 'pending';
    if (row === undefined || !isLeft) return false;
    const fresh = { attempt: 0, dueAt: this.now, firstStartedAt: undefined };
    Object.assign(row, { state: 'pending', generation: row.generation + 1, ...fresh });
    return true;
  }

  resolve(as: 'completed' | 'failed' | 'pending'): boolean {
    if (this.row?.state !== 'interrupted') return false;
    Object.assign(this.row, { state: as, dueAt: as === 'pending' ? this.now : undefined });
    return true;
  }

  skip(): boolean {
    const { row } = this;
    if (row === undefined) {
      this.row = this.#newRow('skipped');
      return true;
    }
    if (!['pending', 'failed', 'interrupted'].includes(row.state)) return false;
    Object.assign(row, { state: 'skipped', dueAt: undefined });
    return true;
  }

  #refusal(): string | undefined {
    switch (this.row?.state) {
      case 'completed':
        return 'already-completed';
      case 'interrupted':
      case 'skipped':
        return this.row.state;
      case 'pending':
      case 'failed':
        if (this.row.dueAt === undefined) return 'exhausted';
        return this.#isDue(this.row) ? undefined : 'not-due';
      case 'running':
      case undefined:
        return undefined;
    }
  }

  #isDue({ state, dueAt }: Row): boolean {
    return (state === 'pending' || state === 'failed') && dueAt !== undefined && dueAt <= this.now;
  }

  #isSpent({ attempt, firstStartedAt }: Row): boolean {
    return attempt >= this.policy.maxAttempts || this.#isTooLate(firstStartedAt, this.now);
  }

  #isTooLate(firstStartedAt = this.now, at: number): boolean {
    return this.policy.until !== undefined && at >= firstStartedAt + this.policy.until;
  }

  #begin(row: Row): ModelClaim {
    row.firstStartedAt ??= this.now;
    row.startedAt = this.now;
    row.attempt += 1;
    Object.assign(row, { state: 'running', dueAt: undefined });
    return { generation: row.generation, attempt: row.attempt };
  }

  #record(claim: ModelClaim, ending: Exclude<Ending, 'is lost'>): boolean {
    const { row } = this;
    if (row === undefined || !isSame(row, claim)) return false;
    const isLate = ending === 'completes' && (row.state === 'interrupted' || row.state === 'completed');
    if (row.state !== 'running' && !isLate) return false;
    switch (ending) {
      case 'completes':
        Object.assign(row, { state: 'completed', dueAt: undefined });
        break;
      case 'throws':
      case 'throws fatal':
        Object.assign(row, { state: 'failed', dueAt: ending === 'throws' ? this.#retryOf(row) : undefined });
        break;
      case 'gives back':
        row.attempt -= 1;
        // It has done nothing. A run that was stopped before has.
        if (row.attempt === 0 && row.firstStartedAt === row.startedAt) row.firstStartedAt = undefined;
        Object.assign(row, { state: 'pending', dueAt: this.now });
        break;
      case 'is stopped':
        if (this.policy.onCrash === 'hold')
          Object.assign(row, { state: 'failed', dueAt: this.#retryOf(row) });
        else Object.assign(row, { state: 'pending', dueAt: this.now, attempt: row.attempt - 1 });
        break;
      case 'skips':
        row.state = 'skipped';
    }
    return true;
  }

  #retryOf({ attempt, firstStartedAt }: Row): number | undefined {
    const retryAt = this.now + RETRY_DELAY;
    if (attempt >= this.policy.maxAttempts || this.#isTooLate(firstStartedAt, retryAt)) return undefined;
    return retryAt;
  }

  #newRow(state: RunState): Row {
    return {
      state,
      generation: 0,
      attempt: 0,
      dueAt: undefined,
      firstStartedAt: undefined,
      startedAt: undefined,
    };
  }
}

function isSame(one: ModelClaim, other: ModelClaim): boolean {
  return one.generation === other.generation && one.attempt === other.attempt;
}
