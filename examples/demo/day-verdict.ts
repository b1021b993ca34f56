import type { DayFigures } from './day-figures';
import { FEWEST_ASKS } from './settings';

/** One that fails, one whose process is killed, and one that does it. */
const ATTEMPTS = 3;

/** What does not hold, a sentence each; none: all holds. */
export function complaintsAboutDay(figures: DayFigures): string[] {
  const { day, asked, attempts, completed, effects, entered, ends } = figures;
  const complaints: string[] = [];
  if (completed !== 1) complaints.push(`The job of ${day} was completed ${times(completed)}.`);
  if (effects !== 1) complaints.push(`The job of ${day} had its effect ${times(effects)}.`);
  if (attempts !== ATTEMPTS || entered !== attempts) {
    complaints.push(
      `The ledger counts ${attempts} attempts for ${day}, and ${entered} were seen, of the ${ATTEMPTS} that were meant.`,
    );
  }
  if (ends.join(' ') !== 'failed lost') {
    complaints.push(
      `One attempt was to fail, and the next to be lost; the ledger says: ${ends.join(', ') || 'neither'}.`,
    );
  }
  if (asked < FEWEST_ASKS) {
    complaints.push(
      `The job of ${day} was asked for only ${times(asked)}, too few to say anything: this machine is too busy.`,
    );
  }
  return complaints;
}

/** The line that a script may read. */
export function dayLine({ day, attempts, completed, effects }: DayFigures): string {
  return `demo: day=${day} attempts=${attempts} completed=${completed} effects=${effects}`;
}

function times(number: number): string {
  return number === 1 ? 'once' : `${number} times`;
}
