/** One run of the job, as the witness recorded it. Times are the machine's. */
export interface Run {
  /** The fire for which it ran. */
  readonly slotMs: number;
  readonly instance: string;
  readonly beganMs: number;
  /** `Infinity` while it is running. */
  readonly endedMs: number;
  /** `'failed'`: it gave up because its signal aborted. `'crashed'`: its process died during the run. */
  readonly ending: 'completed' | 'failed' | 'crashed' | 'going-on';
}

/** What happened on one side of a row. */
export interface Story {
  /** The fires that were due. */
  readonly slots: readonly number[];
  readonly runs: readonly Run[];
  /** The strikes against one of the processes. */
  readonly strikes: readonly Strike[];
}

/** A fault of a process at a fire. */
export interface Strike {
  readonly kind: 'kill' | 'stop' | 'execute';
  readonly slotMs: number;
  /** The process that it hit. */
  readonly instance: string;
  readonly atMs: number;
}
