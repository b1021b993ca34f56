/** Why the first attempt at the job of the day fails. */
export const PLANNED_FAILURE = 'The first attempt is made to fail.';

const PLANNED = [PLANNED_FAILURE, 'cronlatch run:takenOver'];

/** What a guard says, without what the demo brings about and shows anyway. */
export const unplanned = { warn: log, error: log };

function log(line: string): void {
  if (!PLANNED.some((text) => line.includes(text))) console.error(line);
}
