import { suite } from 'node:test';
import { migratedDataSource } from '../../support/databases/lock-table';
import { compete } from './competition/compete';
import { judge, pronounce, type Rules } from './competition/judge';
import { LOCK_AT_LEAST_FOR_MS, LOCKS, WORKERS } from './competition/settings';
import { testOnEvery } from '../../support/databases/fresh';

const RULES: Omit<Rules, 'ticks'> = {
  workers: WORKERS.length,
  locks: LOCKS,
  lockAtLeastForMs: LOCK_AT_LEAST_FOR_MS,
  fewestExact: 85,
};
/** The ticks of ten rounds. */
const MOST_TICKS = 300;
/** Competitions that run concurrently do not fire at the same time. */
const PHASE_MS = 750;

void suite('processes that compete at every tick', { concurrency: true }, () => {
  let competitions = 0;
  testOnEvery(
    'eight processes in different time zones: one of them runs each job at each tick, and runs never overlap (F-27)',
    async (database, t) => {
      const phaseMs = PHASE_MS * competitions++;
      await (await migratedDataSource(database)).destroy();
      await compete(database, phaseMs, (records, ticks) => {
        const rules = { ...RULES, ticks };
        const verdict = judge(records, rules);
        const { exact, runs, latestFiringMs, slowestMs } = verdict;
        t.diagnostic(
          `${exact} of ${LOCKS.length * ticks} tick-locks exact, ${runs} runs; latest firing ${latestFiringMs.toFixed()} ms, slowest answers ${slowestMs.toFixed()} ms`,
        );
        const isEnough = exact >= rules.fewestExact || verdict.complaints.length > 0 || ticks >= MOST_TICKS;
        if (isEnough) pronounce(verdict, rules);
        return isEnough;
      });
    },
  );
});
