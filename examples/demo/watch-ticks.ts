import { setTimeout } from 'node:timers/promises';
import { Board } from './board';
import { DayBoard } from './day-board';
import { displayOf } from './display';
import type { CountedTicks } from './figures';
import type { Scene } from './kill-inside-run';
import { Kills } from './kills';
import { LOCK_AT_MOST_FOR, TICK_MS, TICKS, WORKERS } from './settings';
import { isOfDay } from './witness';

/** How long after its scheduled time the row of a tick is complete, and the last tick has ended. */
const SETTLED_MS = 0.9 * TICK_MS;

/** Shows every tick, and kills workers inside their runs. */
export async function watchTicks(scene: Scene, stop: AbortController): Promise<CountedTicks> {
  // All workers have scheduled their job by now, so all of them should fire at the next tick.
  const first = (Math.floor(Date.now() / TICK_MS) + 1) * TICK_MS;
  const instantOf = (tick: number): number => first + (tick - 1) * TICK_MS;
  const board = new Board(first, scene.day && new DayBoard(scene.day.date));
  const display = displayOf(board, titleOf(scene), process.stdout);
  const kills = new Kills(scene, board, (error) => stop.abort(error));
  scene.crew.listen((line) => {
    if (isOfDay(line)) board.day?.apply(line);
    else board.apply(line);
    display.update();
    if (line.event === 'enter') kills.onEnter(line);
  });

  try {
    for (let tick = 1; tick <= TICKS; tick += 1) {
      await setTimeout(instantOf(tick) + SETTLED_MS - Date.now(), undefined, { signal: stop.signal });
      display.completeRow(tick);
    }
  } finally {
    display.close();
  }
  return { first, last: instantOf(TICKS), killedLeaseUntil: await kills.leaseUntil() };
}

/** Shorter than the narrowest live table. */
function titleOf({ database }: Scene): string {
  const lock = database === undefined ? 'without a lock' : `a lock for at most ${LOCK_AT_MOST_FOR}`;
  return `cronlatch demo: ${WORKERS.length} processes, a job each second, ${lock}`;
}
