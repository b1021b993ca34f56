import { setTimeout } from 'node:timers/promises';
import { Board } from './board';
import { displayOf } from './display';
import type { CountedTicks } from './figures';
import { killInsideRun, type Kill, type Scene } from './kill-inside-run';
import { KILL_AT_TICK, LOCK_AT_LEAST_FOR, LOCK_AT_MOST_FOR, TICK_MS, TICKS, WORKERS } from './settings';
import type { WitnessLine } from './witness';

/** How long after its instant a tick is shown as it is, and the last one is over. */
const SETTLED_MS = 0.9 * TICK_MS;

/** Shows every tick as it happens, and has one worker killed inside a run. */
export async function watchTicks(scene: Scene, stop: AbortController): Promise<CountedTicks> {
  // All workers have scheduled their job by now, so they all are to fire at the next instant.
  const first = (Math.floor(Date.now() / TICK_MS) + 1) * TICK_MS;
  const instantOf = (tick: number): number => first + (tick - 1) * TICK_MS;
  const board = new Board(first);
  const display = displayOf(board, titleOf(scene), process.stdout);

  let killing: Promise<Kill | undefined> | undefined;
  const kill = async (enter: WitnessLine): Promise<Kill | undefined> => {
    const done = await killInsideRun(enter, scene);
    if (done !== undefined) board.bury(done.line, done.leaseUntil);
    else killing = undefined; // Too late: the next run will do.
    return done;
  };
  scene.crew.listen((line) => {
    board.apply(line);
    display.update();
    if (line.event !== 'enter' || line.scheduledAt < instantOf(KILL_AT_TICK)) return;
    killing ??= kill(line);
    killing.catch((error: unknown) => stop.abort(error));
  });

  try {
    for (let tick = 1; tick <= TICKS; tick += 1) {
      await setTimeout(instantOf(tick) + SETTLED_MS - Date.now(), undefined, { signal: stop.signal });
      display.tickOver(tick);
    }
  } finally {
    display.close();
  }
  const killed = await killing;
  return { first, last: instantOf(TICKS), killedLeaseUntil: killed?.leaseUntil };
}

function titleOf({ database }: Scene): string {
  const where = database === undefined ? '' : ` on ${database.kind}`;
  const lock =
    database === undefined ? 'without a lock' : `at most ${LOCK_AT_MOST_FOR}, at least ${LOCK_AT_LEAST_FOR}`;
  return `cronlatch demo: ${WORKERS.length} workers${where}, a job a second, ${lock}`;
}
