import type { Grant, LockRecord, LockRequest } from 'cronlatch/provider';

export type Statement = 'insert' | 'update' | 'extend' | 'unlock' | 'find';

/** Times are the database's, in milliseconds. */
export interface Operation extends LockRequest {
  /** What the statement matches or writes: the `owner` of the acquisition, with the number of the last extension. */
  readonly rowOwner: string;
  readonly host: number;
  readonly statement: Statement;
  /** Where the whole history stood when it was sent. */
  readonly order: number;
  readonly invokedAtMs: number;
  /** `unknown`: it may have taken effect, or not, or may still do so. `fail`: nothing ran. */
  outcome: 'ok' | 'fail' | 'unknown';
  /** Of what is ok: the statement's time, where the whole history stood when it was committed, and when it was told. */
  answer?: {
    readonly value: Answer;
    readonly atMs: number;
    readonly order: number;
    readonly told: { readonly atMs: number; readonly order: number };
  };
}

export type Answer = Grant | LockRecord | 'held' | 'missing' | boolean | undefined;

/** One call of `lock()`, and what came of it. */
export interface Attempt {
  readonly host: number;
  readonly name: string;
  readonly invokedAtMs: number;
  completedAtMs: number | undefined;
  result: 'granted' | 'held' | 'error' | undefined;
  /** Of the statements that it sent, if any. */
  owner: string | undefined;
  /** When a release of the lock was answered, and not by an error. */
  releasedAtMs: number | undefined;
  /** What that answer was: whether the lock was still ours. */
  releasedInTime: boolean | undefined;
}

/** A holder went on with its work because its signal had not aborted. */
export interface Work {
  readonly attempt: Attempt;
  readonly atMs: number;
  readonly order: number;
  /** `glance`: at a signal that was read before. `look`: at the lock, which looks at the clock. */
  readonly how: 'glance' | 'look';
}

/** What was done to a host, from outside. */
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

/** What was done to the records, from outside. */
export interface Damage {
  readonly kind: 'deleted' | 'rolled back';
  readonly name: string;
  readonly atMs: number;
  readonly order: number;
}

/** All that happened, as those who took part in it could know it. */
export class History {
  readonly operations: Operation[] = [];
  readonly attempts: Attempt[] = [];
  readonly works: Work[] = [];
  readonly pauses: Pause[] = [];
  readonly wallJumps: WallJump[] = [];
  readonly damages: Damage[] = [];
  /** By host: how many milliseconds its clock counts in one. */
  readonly rates: number[] = [];
  #order = 0;

  nextOrder(): number {
    return (this.#order += 1);
  }
}
