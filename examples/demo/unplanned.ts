/** Why the first attempt at the job of the day fails. */
export const PLANNED_FAILURE = 'The first attempt is made to fail.';

const PLANNED = [PLANNED_FAILURE, ' run:takenOver: '];

/** The guard's log, without the events that the demo causes and shows anyway. */
export const unplanned = { warn: log, error: log };

function log(line: string): void {
  if (!PLANNED.some((text) => line.includes(text))) console.error(line);
}
