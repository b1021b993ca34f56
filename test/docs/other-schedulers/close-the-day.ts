import { setTimeout } from 'node:timers/promises';
import { currentRun } from 'cronlatch';

/** The handler of the program on the page. The test controls it by CLOSING. */
export async function closeTheDay(): Promise<void> {
  const { businessDate, signal } = currentRun();
  console.log(`closing ${businessDate}`);
  const closing = process.env['CLOSING'];
  if (closing === 'fails') throw new Error('the books are not complete');
  if (closing === 'takes an hour') await setTimeout(3_600_000, undefined, { signal });
}
