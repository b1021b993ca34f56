import type { Grant, LockRecord, LockRequest } from 'cronlatch/provider';

export type Statement = 'insert' | 'update' | 'extend' | 'unlock' | 'find';

/** Times are the database's, in milliseconds. */
export interface Operation extends LockRequest {
  /**
   * The owner that the statement matches or writes: the `owner` of the acquisition, with the number of the
   * last extension.
   */
  readonly rowOwner: string;
  readonly host: number;
  readonly statement: Statement;
  /** The position in the whole history at which it was sent. */
  readonly order: number;
  readonly invokedAtMs: number;
  /** `unknown`: it may have taken effect, or not, or may still do so. `fail`: it did not run. */
  outcome: 'ok' | 'fail' | 'unknown';
  /**
   * For `ok`: the statement's time, the position in the history of its commit, and the time of the answer.
   */
  answer?: {
    readonly value: Answer;
    readonly atMs: number;
    readonly order: number;
    readonly received: { readonly atMs: number; readonly order: number };
  };
}

export type Answer =
  Grant | LockRecord | { readonly heldBy: LockRecord } | 'held' | 'missing' | boolean | undefined;

/** One call of `lock()`, and its result. */
export interface Attempt {
  readonly host: number;
  readonly name: string;
  readonly invokedAtMs: number;
  completedAtMs: number | undefined;
  result: 'granted' | 'held' | 'error' | undefined;
  /** The owner in the statements that it sent, if any. */
  owner: string | undefined;
  /** When a release of the lock was answered without an error. */
  releasedAtMs: number | undefined;
  /** The answer: whether the lock was still held. */
  releasedInTime: boolean | undefined;
}

/** A holder continued its work because its signal had not aborted. */
export interface Work {
  readonly attempt: Attempt;
  readonly atMs: number;
  readonly order: number;
  /** `glance`: it read only its signal. `look`: it asked the lock, which reads the clock. */
  readonly how: 'glance' | 'look';
}

/** A fault of a host. */
export interface Pause {
  readonly host: number;
  readonly fromMs: number;
  readonly untilMs: number;
  readonly isSuspended: boolean;
}

/** The wall clock of a host was set. */
export interface WallJump {
  readonly host: number;
  readonly atMs: number;
  readonly byMs: number;
}

/** A fault of the records. */
export interface Damage {
  readonly kind: 'deleted' | 'rolled back';
  readonly name: string;
  readonly atMs: number;
  readonly order: number;
}

/** All events, as far as the participants could know them. */
export class History {
  readonly operations: Operation[] = [];
  readonly attempts: Attempt[] = [];
  readonly works: Work[] = [];
  readonly pauses: Pause[] = [];
  readonly wallJumps: WallJump[] = [];
  readonly damages: Damage[] = [];
  /** By host: how many milliseconds its clock advances per real millisecond. */
  readonly rates: number[] = [];
  #order = 0;

  nextOrder(): number {
    return (this.#order += 1);
  }
}
