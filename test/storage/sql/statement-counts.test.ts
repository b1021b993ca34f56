import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { systemClock } from '#cronlatch/core/clock';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import { SqlLockProvider } from '#cronlatch/storage/sql/database/sql-lock-provider';
import { SqlRunStore } from '#cronlatch/storage/sql/ledger/sql-run-store';
import { databaseOf } from '#cronlatch/storage/typeorm/database';
import { testOnServers } from '../../support/benches/server';
import { statementLog } from '../../support/databases/statement-log';
import { eventually } from '../../support/clocks/eventually';
import { createRunTables } from '../../support/databases/run-tables';
import { CLAIM, FAILED, LIMIT, PENDING, RUNNING } from '../../support/jobs/runs';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

const JOB = { name: 'job', lockAtMostFor: '1m' } as const;
const NOW = Date.now();

/** The session is read and set up, the lock table is inspected, and its place is read. */
const AT_START = ['SELECT', 'SET', 'SELECT', 'SELECT'];

testOnServers(
  'a run costs two statements, a refused tick one and a read once a minute, the token none',
  async (bench) => {
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const sent = (): string[] => verbs(log.statements());
    const takeOver = bench.server === 'postgres' ? 'WITH' : 'UPDATE';
    const guard = bench.closeAtEnd(await createJobGuard(bench.dataSource({ url: log.url })));
    const other = bench.closeAtEnd(await createJobGuard(bench.application));
    assert.deepEqual(sent(), AT_START);

    const place = ['SELECT', 'INSERT', 'SELECT'];
    await guard.run(JOB, () => {});
    assert.deepEqual(
      sent(),
      [...place, takeOver, 'INSERT', 'UPDATE'],
      'the first lock of the table names its place, and the first run inserts',
    );

    const { executed } = await guard.run(JOB, (lock) => assert.ok(lock.fencingToken));
    assert.ok(executed);
    assert.deepEqual(sent(), [takeOver, 'UPDATE'], 'a run');

    await other.run(JOB, async () => {
      await guard.run(JOB, () => assert.fail('ran'));
      assert.deepEqual(sent(), [takeOver, 'SELECT'], 'the first refused tick reads the holder');
      for (let tick = 0; tick < 5; tick += 1) await guard.run(JOB, () => assert.fail('ran'));
      assert.deepEqual(sent(), Array(5).fill(takeOver), 'refused ticks');
    });

    await guard.run({ ...JOB, name: 'whole-lease', lockAtLeastFor: '1m' }, () => {});
    assert.deepEqual(sent(), [takeOver, 'INSERT'], 'no release if lockAtLeastFor is the whole lease');

    const prepared = verbs(log.preparations()).sort();
    assert.deepEqual(
      prepared,
      ['INSERT', 'SELECT', 'UPDATE', takeOver],
      'every statement is prepared once, but the inspection, which is sent once',
    );

    const newName = { ...JOB, name: 'newName' };
    await other.run(newName, async () => {
      await guard.run(newName, () => assert.fail('ran'));
      assert.deepEqual(sent(), [takeOver, 'SELECT'], 'a refused tick of a name that is new to this provider');
    });
  },
);

function verbs(statements: string[]): string[] {
  return statements.map((text) => text.trim().replace(/\s.*/s, ''));
}

testOnServers(
  'without kept rows, a run costs an insert and a delete, and a refused tick an insert and an update',
  async (bench) => {
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const sent = (): string[] => verbs(log.statements());
    const unkept = { keepRows: false } as const;
    const takeOver = bench.server === 'postgres' ? 'WITH' : 'UPDATE';
    const dataSource = bench.dataSource({ url: log.url });
    const guard = bench.closeAtEnd(await createJobGuard(dataSource, unkept));
    const other = bench.closeAtEnd(await createJobGuard(bench.application, unkept));
    await guard.run({ ...JOB, name: 'first' }, () => {}); // It names the place of the locks.
    sent();

    for (let run = 0; run < 3; run += 1) {
      const { executed } = await guard.run(JOB, (lock) => assert.ok(lock.fencingToken));
      assert.ok(executed);
      assert.deepEqual(sent(), ['INSERT', 'DELETE'], 'a run');
    }

    await other.run(JOB, async () => {
      await guard.run(JOB, () => assert.fail('ran'));
      assert.deepEqual(sent(), ['INSERT', takeOver, 'SELECT'], 'the first refused tick reads the holder');
      for (let tick = 0; tick < 3; tick += 1) {
        await guard.run(JOB, () => assert.fail('ran'));
        assert.deepEqual(sent(), ['INSERT', takeOver], 'a refused tick');
      }
    });

    const atLeast = { ...JOB, name: 'at-least', lockAtLeastFor: '30s' } as const;
    await guard.run(atLeast, () => {});
    assert.deepEqual(sent(), ['INSERT', 'DELETE', 'UPDATE'], 'lockAtLeastFor keeps the row');

    await guard.run({ ...JOB, name: 'whole-lease', lockAtLeastFor: '1m' }, () => {});
    assert.deepEqual(sent(), ['INSERT'], 'no release if lockAtLeastFor is the whole lease');
  },
);

testOnServers('each step of the ledger costs the expected number of statements', async (bench) => {
  await createRunTables(bench.application);
  const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
  const store = bench.closeAtEnd(new TypeOrmRunStore(bench.dataSource({ url: log.url })));
  await store.check();
  const atStart = log.statements().length;
  assert.equal(atStart, 3, 'one statement describes both tables');

  await store.peek({ ...CLAIM, since: RUNNING.periodStart }, LIMIT);
  await store.insert(RUNNING, LIMIT);
  assert.equal(await store.insert(RUNNING, LIMIT), false);
  await store.insert({ ...PENDING, scope: 'eu', event: FAILED }, LIMIT);
  await store.complete(CLAIM, undefined, LIMIT);
  await store.change(
    CLAIM,
    (found) => ({ value: 0, write: found?.run ?? assert.fail(), events: [FAILED] }),
    LIMIT,
  );
  await store.overdue([RUNNING.job], LIMIT);
  const query = { jobs: ['a', 'b', 'c'], from: new Date(0), to: new Date() };
  await store.summaries({ ...query, limit: 10 }, LIMIT);
  await store.counts(query, LIMIT);

  const begin = bench.server === 'postgres' ? 'BEGIN' : 'START';
  // Read once, because the log that a server shares among all tests is long.
  const sent = verbs(log.statements());
  assert.deepEqual(sent, [
    'SELECT', // peek
    'INSERT', // insert
    ...(bench.server === 'postgres' ? ['INSERT'] : ['INSERT', 'SELECT']), // insert of a run that exists
    ...[begin, 'INSERT', 'INSERT', 'COMMIT'], // insert with an event
    'UPDATE', // complete
    ...[begin, 'SELECT', 'UPDATE', 'INSERT', 'COMMIT'], // change
    'SELECT', // overdue
    'SELECT', // summaries
    'SELECT', // counts
  ]);
});

testOnServers(
  'a recorded tick costs five statements, a refused one one, and one more if its period was guessed wrong',
  async (bench) => {
    await createRunTables(bench.application);
    const log = bench.closeAtEnd(await statementLog(bench.server, bench.database));
    const clock = { ...systemClock, wallMs: () => Date.now() + 3_600_000 };
    const source = bench.dataSource({ url: log.url });
    const guard = bench.closeAtEnd(
      await createJobGuard(source, { clock, logger: false, pollInterval: false }),
    );
    const sent = async (call: () => Promise<unknown>): Promise<number> => {
      log.statements();
      await call();
      return log.statements().length;
    };
    const run = (period: 'tick' | 'day', minutesAgo: number): Promise<unknown> => {
      const scheduledAt = new Date(NOW - minutesAgo * 60_000);
      const oncePer = { period, timeZone: 'UTC', maxSkew: '2h' } as const;
      return guard.run({ ...JOB, name: period, oncePer, scheduledAt }, () => {});
    };
    await run('tick', 1); // It inserts the row of the lock, and names the place of the locks.
    assert.equal(await sent(() => run('tick', 0)), 5, 'peek, lock, claim, completion and release');
    assert.equal(await sent(() => run('tick', 0)), 1, 'a tick that another instance has run');
    await run('day', 0);
    assert.equal(await sent(() => run('day', 0)), 1, 'a day that is done');

    const calls = callsOf(guard);
    const call = () => () => {};
    const configuration = { ...JOB, name: 'tick', oncePer: { period: 'tick', name: 'interval' } } as const;
    const schedules = [{ every: 60_000 }];
    const job = calls.admitOne({ configuration, call, place: 'interval', schedules });
    const tick = { task: call(), args: [], call };
    await guard.runOverdue(); // The job is in the register.
    assert.equal(
      await sent(() => calls.execute(job, tick)),
      6,
      'the clock of this host names another minute',
    );
  },
);

testOnServers('the locks and the runs of one guard share the same two connections', async (bench) => {
  await createRunTables(bench.application);
  await bench.application.destroy();
  const database = databaseOf(bench.dataSource());
  const access = bench.closeAtEnd(new DatabaseAccess(database, {}));
  const provider = new SqlLockProvider(database, {}, access);
  const store = new SqlRunStore(access.forRuns({}));
  const keys = Array.from({ length: 20 }, (_, number) => `${number}`);
  await Promise.all([
    ...keys.map((name) => provider.lock({ name, lockAtMostFor: '1m' }).then((lock) => lock?.unlock())),
    ...keys.map(async (periodKey) => {
      await store.insert({ ...RUNNING, periodKey }, LIMIT);
      await store.change({ ...CLAIM, periodKey }, () => ({ value: 0 }), LIMIT);
      assert.equal(await store.complete({ ...CLAIM, periodKey }, undefined, LIMIT), true);
    }),
  ]);
  // On a slow machine a third connection may have been borrowed while the first two were opened.
  await eventually(async () => (await bench.stranger.countSessions()) === 2, 'two connections are kept');
  // The provider does not close the access that it was given.
  await provider.close();
  assert.equal((await store.overdue([RUNNING.job], LIMIT)).length, 0);
});
