/** How one process handles the ticks of its jobs. */
export interface Work extends AsyncDisposable {
  tick(job: string, tick: Tick): Promise<void>;
  /** For work that goes on after the ticks. */
  untilQuiet?(): Promise<void>;
}

export interface Tick {
  /** Among the jobs that are due. */
  readonly position: number;
  readonly onRun: (job: string) => void;
}
