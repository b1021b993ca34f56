import { openSync, writeSync } from 'node:fs';
import { machineMs } from '../../processes/competition/settings';

/** All times are the machine's, in milliseconds. A token is the database's clock at the grant, in microseconds. */
export type Entry =
  /** A lock is asked for, and the answer. Without one, the process died in between. */
  | { readonly k: 'ask'; readonly id: number; readonly name: string }
  | {
      readonly k: 'told';
      readonly id: number;
      readonly name: string;
      readonly verdict: 'granted' | 'held' | 'failed';
      readonly token?: number | undefined;
      readonly atMostMs: number;
      readonly atLeastMs: number;
      readonly error?: string | undefined;
    }
  /** Confirmed: from then on the lease lasts `atMostMs` from `sentMs` on, at least. */
  | {
      readonly k: 'extended';
      readonly name: string;
      readonly token: number;
      readonly sentMs: number;
      readonly atMostMs: number;
    }
  | {
      readonly k: 'refused extension';
      readonly name: string;
      readonly token: number;
      readonly sentMs: number;
    }
  | { readonly k: 'release'; readonly name: string; readonly token: number }
  | {
      readonly k: 'released';
      readonly name: string;
      readonly token: number;
      readonly stillOurs: boolean | 'failed';
    }
  /** The signal aborted, that long after the end that the lease was known to have. */
  | {
      readonly k: 'lost';
      readonly name: string;
      readonly token: number;
      readonly lateMs: number;
      /** The longest time, within the lease, in which the event loop did not turn. */
      readonly stalledMs: number;
    }
  | { readonly k: 'run'; readonly key: string; readonly verdict: string }
  /** The event loop did not turn. */
  | { readonly k: 'stalled'; readonly fromMs: number }
  /** What nothing of the library's may throw. */
  | { readonly k: 'strange'; readonly error: string };

/** Process ids come again in a long campaign: `worker` does not. */
export type DatedEntry = Entry & { readonly atMs: number; readonly worker: number; readonly pid: number };

/** What a worker writes down as it happens. A line that was written outlives its process, however that ends. */
export class Journal {
  readonly #file: number;

  constructor(
    path: string,
    private readonly worker: number,
  ) {
    this.#file = openSync(path, 'a');
  }

  write(entry: Entry): void {
    const dated: DatedEntry = { ...entry, atMs: machineMs(), worker: this.worker, pid: process.pid };
    writeSync(this.#file, `${JSON.stringify(dated)}\n`);
  }
}
