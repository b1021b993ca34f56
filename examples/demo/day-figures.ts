import type { DayRecord } from './demo-database';
import type { WitnessLine } from './witness';

export interface DayFigures {
  readonly day: string;
  /** How often the workers called it. */
  readonly asked: number;
  /** From the ledger. */
  readonly attempts: number;
  /** The number of completed runs in the ledger. */
  readonly completed: number;
  /** The number of rows that the attempts wrote. */
  readonly effects: number;
  /** The number of handlers that reported their start. */
  readonly entered: number;
  /** How the unsuccessful attempts ended, from the ledger. */
  readonly ends: readonly string[];
}

/**
 * The outcome comes from the ledger and the effects; the number of calls and starts comes from the witness
 * file.
 */
export function countDayFigures(
  lines: readonly WitnessLine[],
  { date, runs, history, effects }: DayRecord,
): DayFigures {
  const count = (event: WitnessLine['event']): number => lines.filter((line) => line.event === event).length;
  return {
    day: date,
    asked: count('day-asked'),
    attempts: runs.reduce((sum, { attempt }) => sum + attempt, 0),
    completed: runs.filter(({ state }) => state === 'completed').length,
    effects,
    entered: count('day-enter'),
    ends: history.map(({ kind }) => kind),
  };
}
