import { openSync, writeSync } from 'node:fs';
import { machineMs } from '../../../processes/machine-time';

/** All times are the machine's, in milliseconds. A token is the database's clock at the grant, in microseconds. */
export type Entry =
  /** A request for a lock, and its answer. Without an answer, the process died in between. */
  | { readonly k: 'request'; readonly id: number; readonly name: string }
  | {
      readonly k: 'answer';
      readonly id: number;
      readonly name: string;
      readonly verdict: 'granted' | 'held' | 'failed';
      readonly token?: number | undefined;
      readonly atMostMs: number;
      readonly atLeastMs: number;
      readonly error?: string | undefined;
    }
  /** Confirmed: the lease lasts at least `atMostMs`, counted from `sentMs`. */
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
  /** The signal aborted this long after the end of the lease, as its holder computed it. */
  | {
      readonly k: 'lost';
      readonly name: string;
      readonly token: number;
      readonly lateMs: number;
      /** The longest time, within the lease, in which the event loop was blocked. */
      readonly stalledMs: number;
    }
  | { readonly k: 'run'; readonly key: string; readonly verdict: string }
  /** The event loop was blocked. */
  | { readonly k: 'stalled'; readonly fromMs: number }
  /** An error that the library must never throw. */
  | { readonly k: 'strange'; readonly error: string };

/** A long campaign reuses process ids, but never the number of a `worker`. */
export type DatedEntry = Entry & { readonly atMs: number; readonly worker: number; readonly pid: number };

/** The record that a worker writes. A written line survives its process, however that ends. */
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
