import assert from 'node:assert/strict';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { nextEvent } from '../../../support/benches/guard';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { sampleSize } from '../../../support/checks/sample-size';
import { createRunTables } from '../../../support/databases/run-tables';
import { TypeOrmRunStore } from '../../../support/stores/typeorm-run-store';
import { newGuard } from '../../../support/benches/guard-with-runs';

const OPTIONS = { statementTimeout: '2s' } as const;
/** Replaces the interval of a minute. */
const DUE_EVERY_MS = 1000;
/** How long the server is down. */
const FAILED_CHECKS = sampleSize({ fast: 2, full: 60 });

testOnOwnServers(
  'if the server is down at the day’s only tick, the day is completed soon after its return, with one effect and no restart (L-61)',
  async ({ server, application }) => {
    // The library's own timers do not keep the process alive, and while the server is down nothing else does.
    const alive = setInterval(() => {}, 60_000);
    await createRunTables(application);
    const lockProvider = new TypeOrmLockProvider(application, OPTIONS);
    const runStore = new TypeOrmRunStore(application, OPTIONS);
    const guard = newGuard({
      lockProvider,
      runStore,
      pollInterval: DUE_EVERY_MS,
      logger: false,
      ...OPTIONS,
    });
    let effects = 0;
    const tick = guard.wrap(
      { name: 'close-day', lockAtMostFor: '30s', oncePer: { period: 'day', timeZone: 'UTC' } },
      () => void (effects += 1),
    );
    try {
      await server.kill();
      const failed = nextEvent(guard, 'lock:failed');
      assert.equal(await tick(), undefined);
      assert.equal((await failed).willRetry, true);
      // The guard checks for overdue runs, in vain.
      for (let check = 0; check < FAILED_CHECKS; check += 1) await nextEvent(guard, 'guard:warning');
      const completed = nextEvent(guard, 'run:completed');
      await server.restart();
      assert.equal((await completed).run?.job, 'close-day');
      await guard.runOverdue();
      assert.equal(effects, 1);
      const run = await guard.ledger.last('close-day');
      assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
    } finally {
      clearInterval(alive);
      await guard.close();
      await runStore.close();
      await lockProvider.close();
    }
  },
);
