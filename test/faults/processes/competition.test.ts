import { suite } from 'node:test';
import { migratedDataSource } from '../../support/lock-table';
import { compete } from './competition/compete';
import { judge, pronounce, type Rules } from './competition/judge';
import { LOCK_AT_LEAST_FOR_MS, LOCKS, TICKS, WORKERS } from './competition/settings';
import { testOnEvery } from '../../support/databases';

const RULES: Rules = {
  workers: WORKERS.length,
  locks: LOCKS,
  ticks: TICKS,
  lockAtLeastForMs: LOCK_AT_LEAST_FOR_MS,
  fewestExact: 85,
};
/** Competitions that run concurrently do not fire at the same time. */
const PHASE_MS = 750;

void suite('processes that compete at every tick', { concurrency: true }, () => {
  let competitions = 0;
  testOnEvery(
    'eight processes in different time zones: one of them runs each job at each tick, and runs never overlap (F-27)',
    async (database, t) => {
      const phaseMs = PHASE_MS * competitions++;
      await (await migratedDataSource(database)).destroy();
      const verdict = judge(await compete(database, phaseMs), RULES);
      const { exact, runs, latestFiringMs, slowestMs } = verdict;
      t.diagnostic(
        `${exact} of ${LOCKS.length * TICKS} tick-locks exact, ${runs} runs; latest firing ${latestFiringMs.toFixed()} ms, slowest answers ${slowestMs.toFixed()} ms`,
      );
      pronounce(verdict, RULES);
    },
  );
});
