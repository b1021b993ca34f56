import type { JobGuard } from 'cronlatch';
import { DAY_JOB, type Day } from './day';
import { closeDay } from './day-job';
import type { Reporter } from './reporter';
import { ASK_EVERY_MS, LOCK_AT_MOST_FOR } from './settings';

/** Calls the job of the day repeatedly, until the guard is closed: only the ledger prevents repeated runs. */
export function askForDay(guard: JobGuard, day: Day, reporter: Reporter): void {
  const { at, oncePer } = day;
  const ask = async (): Promise<void> => {
    const result = await guard
      .run({ name: DAY_JOB, lockAtMostFor: LOCK_AT_MOST_FOR, keepAlive: true, oncePer, at }, () =>
        closeDay(day, reporter),
      )
      .catch(() => ({ executed: false, reason: 'failed' }) as const); // The guard has logged it.
    reporter.report('day-asked', at, result.executed ? 'done' : result.reason);
  };
  const asked = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const asking = ask().finally(() => asked.delete(asking));
    asked.add(asking);
  }, ASK_EVERY_MS);
  guard.onClose({
    async stop() {
      clearInterval(timer);
      await Promise.all(asked);
    },
  });
}
