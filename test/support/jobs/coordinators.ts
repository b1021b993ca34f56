import type { JobGuard } from 'cronlatch';
import { scheduleDistributed } from 'cronlatch/node-cron';
import type { RunCoordinator, TaskContext } from 'node-cron';
import type { ServerBench } from '../benches/server';

export const SLOT = '2026-11-20T03:00:00.000Z';

/** The parts of a task that node-cron keeps to itself. */
interface Runner {
  readonly runCoordinator: RunCoordinator;
  readonly onMatch: (date: Date, execution: TaskContext['execution']) => Promise<unknown>;
}

/** A distributed task, of which the test decides when node-cron asks for a tick, and when it runs one. */
export interface Elector {
  /** Whether the instance of the guard would run the tick. */
  readonly asks: (key?: string) => Promise<boolean>;
  /** Runs an elected tick. Its function returns the time of the tick. */
  readonly runs: (at?: string) => Promise<unknown>;
}

export function electorOf(guard: JobGuard, name = 'settle'): Elector {
  const task = scheduleDistributed('0 0 1 1 *', ({ date }) => date.toISOString(), { guard, name });
  const { runner } = task as unknown as { readonly runner: Runner };
  return {
    asks: async (key = `${name}:${SLOT}`) => await runner.runCoordinator.shouldRun(key, 0),
    runs: (at = SLOT) => runner.onMatch(new Date(at), { id: at, reason: 'scheduled' }),
  };
}

/** Closed at the end of the test, without waiting for the elected ticks. */
export function closedAtOnce(bench: ServerBench, guard: JobGuard): JobGuard {
  bench.closeAtEnd({ close: () => guard.close({ timeout: 0 }) });
  return guard;
}
