import type { Keeper } from '../options';
import type { Injection } from '../faults/fault';
import type { RowSample } from '../row-sampler';
import type { Testimony } from '../witness/testimony';
import type { DatedEntry } from '../worker/journal';

/** A run in its final state, with the attempts that left an effect. */
export interface FinalRun {
  readonly key: string;
  readonly state: string;
  readonly attempt: number;
  readonly effects: readonly number[];
}

/** All records of a finished campaign. Times are the machine's, in milliseconds. */
export interface Evidence {
  readonly keeper: Keeper;
  readonly testimonies: readonly Testimony[];
  readonly journal: readonly DatedEntry[];
  readonly injections: readonly Injection[];
  readonly samples: readonly RowSample[];
  readonly runs: readonly FinalRun[];
  /** The runs that had to be completed. */
  readonly keys: readonly string[];
  /** How far the database's clock is ahead of the machine's. */
  readonly wallAheadMs: number;
}

/** The clocks of the machine and the database are read one after the other. */
export const SLACK_MS = 30;
