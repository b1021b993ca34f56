import { mock } from 'node:test';
import { turn } from '../benches/lock';

/** The clock and the timers of this process begin at this time, until `mock.timers.reset()`. */
export function beginAt(now: string | number): void {
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date(now) });
}

/** Lets the time pass in one step, as if the event loop were blocked, and then everything end that needs no time. */
export async function pass(milliseconds: number): Promise<void> {
  mock.timers.tick(milliseconds);
  await settled();
}

export async function settled(): Promise<void> {
  for (let turns = 0; turns < 30; turns += 1) await turn();
}
