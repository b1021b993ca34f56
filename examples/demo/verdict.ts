import type { Figures } from './figures';
import { FEWEST_TICKS, LOCK_AT_LEAST_FOR_MS, TICKS } from './settings';
import { timeOf } from './time-of';

/** The broken expectations, a sentence each. */
export function complaintsAbout(figures: Figures): string[] {
  const complaints: string[] = [];
  if (figures.duplicates > 0) complaints.push(`${count(figures.duplicates, 'run')} repeated a tick.`);
  if (figures.overlaps > 0) complaints.push(`${count(figures.overlaps, 'pair')} of runs overlapped.`);
  if (figures.lost.length > 0) {
    complaints.push(
      `No worker ran the ticks at ${figures.lost.map(timeOf).join(', ')}, and no killed lease explains it.`,
    );
  }
  if (!figures.killedInsideRun) complaints.push('No worker was killed inside a run.');
  if (figures.unfinished > 0) complaints.push(`${count(figures.unfinished, 'run')} never ended.`);
  if (figures.ticks < FEWEST_TICKS) {
    complaints.push(
      `Only ${figures.ticks} of ${TICKS} ticks fired, too few for a result: this machine is too busy.`,
    );
  }
  if (complaints.length > 0 && figures.latestMs > LOCK_AT_LEAST_FOR_MS) {
    complaints.push(
      `A worker fired ${figures.latestMs} ms late: lockAtLeastFor covers ${LOCK_AT_LEAST_FOR_MS} ms, so this machine is too busy.`,
    );
  }
  return complaints;
}

/** `15 ticks: 13 ran, 2 were skipped during the lease of the killed process. 0 runs repeated a tick, 0 overlapped.` */
export function lastLine({ ticks, runs, skippedAfterKill, duplicates, overlaps }: Figures): string {
  const skipped = `${skippedAfterKill} were skipped during the lease of the killed process`;
  return `${count(ticks, 'tick')}: ${runs} ran, ${skipped}. ${count(duplicates, 'run')} repeated a tick, ${overlaps} overlapped.`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
