import type { DayFigures } from './day-figures';
import { FEWEST_ASKS } from './settings';

/** One that fails, one whose process is killed, and one that completes. */
const ATTEMPTS = 3;

/** The broken expectations, a sentence each. */
export function complaintsAboutDay(figures: DayFigures): string[] {
  const { day, asked, attempts, completed, effects, entered, ends } = figures;
  const complaints: string[] = [];
  if (completed !== 1) complaints.push(`The job of ${day} was completed ${times(completed)}.`);
  if (effects !== 1) complaints.push(`The job of ${day} had its effect ${times(effects)}.`);
  if (attempts !== ATTEMPTS || entered !== attempts) {
    complaints.push(
      `The ledger counts ${attempts} attempts for ${day}, and ${entered} started, but ${ATTEMPTS} were expected.`,
    );
  }
  if (ends.join(' ') !== 'failed lost') {
    complaints.push(
      `One attempt should fail, and the next should be lost; the ledger has: ${ends.join(', ') || 'neither'}.`,
    );
  }
  if (asked < FEWEST_ASKS) {
    complaints.push(
      `The job of ${day} was called only ${times(asked)}, too few for a result: this machine is too busy.`,
    );
  }
  return complaints;
}

/** `The job of 2026-11-21: called 213 times, attempted 3 times, completed once, in the database once.` */
export function dayLine({ day, asked, attempts, completed, effects }: DayFigures): string {
  const [called, attempted] = [times(asked), times(attempts)];
  return `The job of ${day}: called ${called}, attempted ${attempted}, completed ${times(completed)}, in the database ${times(effects)}.`;
}

function times(number: number): string {
  return number === 1 ? 'once' : `${number} times`;
}
