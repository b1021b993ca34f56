import type { StatementOptions } from '../core';
import type { Claim, RunKey, RunProgress } from './run';

/** What an attempt has printed in about a second. */
export interface RunLogEntry {
  /** Later entries of a run have higher numbers. */
  readonly id: number;
  readonly at: Date;
  readonly generation: number;
  readonly attempt: number;
  /** Each line ends with a line break. */
  readonly lines: string;
}

/** What one attempt prints, on its way to the store. */
export interface RunOutput {
  /** @param part any part of the output; the next one may continue its last line, or its last character */
  write(part: string | Uint8Array): void;
  progress(progress: RunProgress): void;
  /** Call it when the handler has settled. */
  end(): void;
}

/** Keeps what runs print. No method waits for the row of a run. A purge deletes the entries with their runs. */
export interface RunLogStore {
  /** Adds an entry, or only progress. All entries of an attempt pass the same `attempt` object. */
  append(
    attempt: Claim,
    entry: Pick<RunLogEntry, 'lines'> & RunProgress,
    options: StatementOptions,
  ): Promise<void>;
  /** One plain read of the next 10,000 entries of a run that have lines, the oldest first. */
  read(run: RunKey, after: number, options: StatementOptions): Promise<readonly RunLogEntry[]>;
}
