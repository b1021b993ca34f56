/** What can go wrong with a scheduled job in several processes. */
export const FAULTS = ['duplicates', 'overlaps', 'lost'] as const;
export type Fault = (typeof FAULTS)[number];

/** The fault of the two processes of a row. */
type Blow =
  /** The clock of one process is ahead of the other's. */
  | { readonly kind: 'skew'; readonly ms: number }
  /** The event loop of one process is busy at every tick. */
  | { readonly kind: 'block'; readonly ms: number }
  /** None: the job alone causes the fault. */
  | { readonly kind: 'none' }
  /** The process that runs the job at one fire is killed during the run. */
  | { readonly kind: 'kill'; readonly atFire: number }
  /** The first process in its random delay at a fire is stopped there, and restarted for the next. */
  | { readonly kind: 'stop' }
  /** The process that does not run the job is called by hand. */
  | { readonly kind: 'execute' };

export interface Row {
  readonly number: number;
  readonly title: string;
  /** The seconds between fires: a divisor of 60. */
  readonly everyS: number;
  readonly fires: number;
  readonly jobMs: number;
  readonly blow: Blow;
  readonly maxRandomDelay?: number;
  /** An option of node-cron's own coordination; a lock does not need it. */
  readonly noOverlap?: boolean;
  /** The known fault of node-cron's own coordination. A row in which it does not occur shows nothing. */
  readonly known: Fault;
  /** It depends on milliseconds, and runs alone on the machine. */
  readonly isDelicate?: boolean;
}

export const ROWS: readonly Row[] = [
  {
    number: 1,
    title: '5 ms clock skew, a 1 ms job',
    ...{ everyS: 2, fires: 10, jobMs: 1 },
    blow: { kind: 'skew', ms: 5 },
    known: 'duplicates',
    isDelicate: true,
  },
  {
    number: 2,
    title: 'an event loop blocked for 300 ms at the tick',
    ...{ everyS: 2, fires: 4, jobMs: 1 },
    blow: { kind: 'block', ms: 300 },
    known: 'duplicates',
    isDelicate: true,
  },
  {
    number: 3,
    title: 'a 5 s job every 3 s, with noOverlap',
    ...{ everyS: 3, fires: 7, jobMs: 5000 },
    blow: { kind: 'none' },
    noOverlap: true,
    known: 'overlaps',
  },
  {
    number: 4,
    title: 'the winner is killed in the middle of its job',
    ...{ everyS: 5, fires: 3, jobMs: 1500 },
    blow: { kind: 'kill', atFire: 1 },
    known: 'lost',
  },
  {
    number: 5,
    title: 'stop() in the random delay before a run',
    ...{ everyS: 5, fires: 3, jobMs: 200 },
    blow: { kind: 'stop' },
    maxRandomDelay: 3000,
    known: 'lost',
  },
  {
    number: 6,
    title: 'execute() by hand while the other one runs',
    ...{ everyS: 4, fires: 3, jobMs: 1000 },
    blow: { kind: 'execute' },
    known: 'duplicates',
  },
];
