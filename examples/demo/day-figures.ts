import type { DayRecord } from './demo-database';
import type { WitnessLine } from './witness';

export interface DayFigures {
  readonly day: string;
  /** How often the workers asked for it. */
  readonly asked: number;
  /** What the ledger says. */
  readonly attempts: number;
  /** Rows of the ledger that say so. */
  readonly completed: number;
  /** Rows that the attempts have left behind. */
  readonly effects: number;
  /** Handlers that were entered, by their own word. */
  readonly entered: number;
  /** How attempts ended that did not complete it, by the ledger's word. */
  readonly ends: readonly string[];
}

/** The ledger and the effects say what became of the day; the witness file, how often it was tried. */
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
