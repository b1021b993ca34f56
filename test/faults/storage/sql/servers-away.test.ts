import assert from 'node:assert/strict';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { nextEvent, reasonOf } from '../../../support/benches/guard';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { lockRows } from '../../../support/databases/lock-table';
import { eventually } from '../../../support/clocks/eventually';
import { sampleSize } from '../../../support/checks/sample-size';
import { createRunTables } from '../../../support/databases/run-tables';
import { TypeOrmRunStore } from '../../../support/stores/typeorm-run-store';
import { newGuard } from '../../../support/benches/guard-with-runs';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };
const SHORT = { ...JOB, lockAtMostFor: '2s' } as const;

testOnOwnServers(
  'a server that is shut down or killed, and comes back, costs only the ticks in between, without a restart of the application (F-30, F-31)',
  async ({ server, application, guard }) => {
    const tick = guard.wrap(JOB, () => 'ran');
    assert.equal(await tick(), 'ran');
    for (const signal of ['SIGTERM', 'SIGKILL'] as const) {
      await server.kill(signal);
      const failed = nextEvent(guard, 'lock:failed');
      assert.equal(await tick(), undefined);
      assert.ok((await failed).error instanceof LockStorageError);
      await server.restart();
      assert.equal(await tick(), 'ran');
      const [row] = await lockRows(application);
      assert.equal(row?.held, false);
    }
  },
);

testOnOwnServers(
  'a job that continues while the server is killed keeps its lease, and releases it (F-31)',
  async (bench) => {
    const { server, application, guard } = bench;
    bench.keepProcessAlive();
    const renewing: LockConfiguration = { ...JOB, lockAtMostFor: '30s', keepAlive: '500ms' };
    const result = await guard.run(renewing, async ({ signal }) => {
      const warned = nextEvent(guard, 'guard:warning');
      await server.kill();
      const { message } = await warned;
      const renewed = nextEvent(guard, 'lock:extended');
      await server.restart();
      await renewed;
      return [message, signal.aborted] as const;
    });
    assert.ok(result.executed);
    const [warning, isLost] = result.value;
    assert.match(warning, /'job' could not be renewed/);
    assert.equal(isLost, false);
    const [row] = await lockRows(application);
    assert.equal(row?.held, false);
  },
);

/**
 * The server accepts no further connections of the application; later any number. With less than 10, MariaDB
 * has 10.
 */
const STATEMENTS = {
  mysql: { close: 'SET GLOBAL max_connections = 1', open: 'SET GLOBAL max_connections = 100' },
  mariadb: { close: 'SET GLOBAL max_connections = 1', open: 'SET GLOBAL max_connections = 100' },
  postgres: { close: 'ALTER ROLE app CONNECTION LIMIT 0', open: 'ALTER ROLE app CONNECTION LIMIT 100' },
};

testOnOwnServers(
  'if a server accepts no further connections, new instances fail with its error, and connected ones continue (F-45)',
  async (bench) => {
    const { application, guard, type } = bench;
    assert.equal((await guard.run(JOB, () => {})).executed, true);
    const administrator = await bench.administrator();
    for (let other = 0; other < 10; other += 1) {
      const session = application.createQueryRunner();
      await session.connect();
      bench.closeAtEnd({ close: () => session.release() });
    }
    await administrator.query(STATEMENTS[type].close);
    const late = await bench.openGuard({ lazy: true, statementTimeout: '2s' });
    const tick = late.wrap(JOB, () => 'ran');
    const failed = nextEvent(late, 'lock:failed');
    assert.equal(await tick(), undefined);
    const { error } = await failed;
    assert.ok(error instanceof LockStorageError);
    assert.equal(error.outcome, 'nothing-ran');
    assert.match(error.message, /too many connections/i);
    assert.equal((await guard.run(JOB, () => {})).executed, true);
    await administrator.query(STATEMENTS[type].open);
    assert.equal(await tick(), 'ran');
  },
);

testOnOwnServers(
  'if a server is demoted under a job, the job keeps its outcome, and every tick fails until it is the primary again (F-37)',
  async (bench) => {
    const { guard, application } = bench;
    const tick = (name: string) => guard.run({ ...SHORT, name }, () => 'ran');
    const releaseFailed = new Promise<void>((resolve) =>
      guard.on('lock:releaseFailed', ({ name }) => {
        // The lock 'other' may still be granted, and then fail to be released.
        if (name === JOB.name) resolve();
      }),
    );
    const result = await guard.run(SHORT, async () => {
      await bench.demote();
      // A session notices it a moment later.
      const refused = () =>
        tick('other').then(
          () => false,
          () => true,
        );
      await eventually(refused, 'a tick is refused');
      const error = await reasonOf(tick('other'));
      assert.ok(error instanceof LockStorageError);
      assert.equal(error.outcome, 'nothing-ran');
      assert.match(error.message, /is read-only: .*Connect to the primary/);
      return 'done';
    });
    assert.deepEqual(result, { executed: true, value: 'done' });
    await releaseFailed;
    const row = (await lockRows(application)).find(({ name }) => name === 'job');
    assert.doesNotMatch(row?.lockedBy ?? '', /\/released$/, 'the lease expires');
    await bench.promote();
    await eventually(
      async () => (await tick('job').catch(() => undefined))?.executed === true,
      'a tick runs',
    );
  },
);

const OPTIONS = { statementTimeout: '2s' } as const;
/** Replaces the interval of a minute. */
const DUE_EVERY_MS = 1000;
/** A failed check takes the time limit of its statement. */
const LONGEST_CHECK_MS = 10_000;
/** How long the server is down. */
const FAILED_CHECKS = sampleSize({ fast: 2, full: 60 });

testOnOwnServers(
  'if the server is down at the day’s only tick, the day is completed soon after its return, with one effect and no restart (L-61)',
  async (bench) => {
    const { server, application } = bench;
    bench.keepProcessAlive();
    await createRunTables(application);
    const lockProvider = bench.provider(OPTIONS, application);
    const runStore = bench.closeAtEnd(new TypeOrmRunStore(application, OPTIONS));
    let failedChecks = 0;
    const readOverdue = runStore.overdue.bind(runStore);
    runStore.overdue = (...of) =>
      readOverdue(...of).catch((error: unknown) => {
        failedChecks += 1;
        throw error;
      });
    const options = { pollInterval: DUE_EVERY_MS, logger: false, ...OPTIONS } as const;
    const guard = bench.closeAtEnd(newGuard({ lockProvider, runStore, ...options }));
    let effects = 0;
    const tick = guard.wrap(
      { name: 'close-day', lockAtMostFor: '30s', oncePer: { period: 'day', timeZone: 'UTC' } },
      () => void (effects += 1),
    );
    await server.kill();
    const failed = nextEvent(guard, 'lock:failed');
    assert.equal(await tick(), undefined);
    assert.equal((await failed).willRetry, true);
    // The guard checks for overdue runs, in vain. Only the first failure is a warning.
    await eventually(
      () => failedChecks >= FAILED_CHECKS,
      'the checks fail',
      FAILED_CHECKS * LONGEST_CHECK_MS,
    );
    const completed = nextEvent(guard, 'run:completed');
    await server.restart();
    assert.equal((await completed).run?.job, 'close-day');
    await guard.runOverdue();
    assert.equal(effects, 1);
    const run = await guard.ledger.last('close-day');
    assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
  },
);
