/** One run of the job, as the witness saw it. Times are the machine's. */
export interface Run {
  /** The fire that it was for. */
  readonly slotMs: number;
  readonly instance: string;
  readonly beganMs: number;
  /** `Infinity` while it goes on. */
  readonly endedMs: number;
  /** `'failed'`: it gave up, because its signal told it to. `'crashed'`: its process died in it. */
  readonly ending: 'completed' | 'failed' | 'crashed' | 'going-on';
}

/** What happened on one side of a row. */
export interface Story {
  /** The fires that were due. */
  readonly slots: readonly number[];
  readonly runs: readonly Run[];
  /** That were aimed at one of the processes. */
  readonly strikes: readonly Strike[];
}

/** What was done to a process because of a fire. */
export interface Strike {
  readonly kind: 'kill' | 'stop' | 'execute';
  readonly slotMs: number;
  /** To which it was done. */
  readonly instance: string;
  readonly atMs: number;
}
