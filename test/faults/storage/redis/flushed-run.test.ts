import assert from 'node:assert/strict';
import { ClaimLostError, type JobGuard } from 'cronlatch';
import { createJobGuard, createTables, inRunTransaction } from 'cronlatch/mysql2';
import { createPool } from 'mysql2/promise';
import { JOB, RedisBench } from '../../../support/benches/redis';
import { databaseOn } from '../../../support/databases/fresh';
import { ownServer } from '../../../support/servers/own';
import { runningServer } from '../../../support/servers/running';
import { testIf } from '../../../support/servers/test-on';

const DAY = { ...JOB, keepAlive: true, oncePer: { period: 'day', timeZone: 'UTC' } } as const;

/** Closes the day in one transaction with its run. */
const closeDay = (): Promise<void> =>
  inRunTransaction(async (connection) => void (await connection.query('INSERT INTO closed VALUES (1)')));

interface Day {
  readonly instances: readonly [JobGuard, JobGuard];
  readonly flush: () => Promise<unknown>;
  /** Asserts that the run was completed once, with its effect, and does not run again. */
  readonly assertClosedOnce: (attempt: number) => Promise<void>;
}

function testDay(name: string, body: (day: Day) => Promise<void>): void {
  const redis = runningServer('redis');
  const isThere = runningServer('mysql') !== undefined && redis !== undefined;
  const needed = 'mysql, and redis that may be killed';
  testIf(isThere && redis.origin !== 'environment', needed, `mysql and redis: ${name}`, async (t) => {
    const [server, database] = await Promise.all([ownServer('redis'), databaseOn('mysql')]);
    const guards: JobGuard[] = [];
    t.after(async () => {
      await Promise.all(guards.map((guard) => guard.close()));
      await Promise.all([server.stop(), database.dispose()]);
    });
    await createTables(database.url, { tables: ['lock', 'ledger'] });
    await database.root.query('CREATE TABLE closed (day INT NOT NULL)');
    const bench = await RedisBench.open(t, server.url);
    const pool = createPool({ uri: database.url });
    t.after(() => pool.end());
    const instance = async (): Promise<JobGuard> => {
      const guard = await createJobGuard(pool, { lockProvider: bench.provider() });
      guards.push(guard);
      return guard;
    };
    const instances = [await instance(), await instance()] as const;
    await body({
      instances,
      flush: () => bench.send('FLUSHALL'),
      async assertClosedOnce(attempt) {
        for (const guard of instances) {
          const again = await guard.run(DAY, () => assert.fail('the day ran again'));
          assert.deepEqual(again, { executed: false, reason: 'already-completed' });
        }
        const [run, ...others] = await instances[0].ledger.list({ job: JOB.name });
        assert.deepEqual(others, []);
        assert.equal(run?.state, 'completed');
        assert.equal(run.attempt, attempt);
        assert.equal((await database.ask('SELECT * FROM closed')).length, 1);
      },
    });
  });
}

testDay(
  'a day whose lock FLUSHALL deletes while it runs is completed once, by its own run',
  async ({ instances: [first], flush, assertClosedOnce }) => {
    const result = await first.run(DAY, async () => {
      await flush();
      await closeDay();
    });
    assert.equal(result.executed, true);
    await assertClosedOnce(1);
  },
);

testDay(
  'a day that another instance completes after FLUSHALL is not completed by the first one, too',
  async ({ instances: [first, second], flush, assertClosedOnce }) => {
    const running = first.run(DAY, async () => {
      assert.deepEqual(await second.run(DAY, closeDay), { executed: false, reason: 'locked' });
      await flush();
      assert.equal((await second.run(DAY, closeDay)).executed, true);
      await closeDay();
    });
    await assert.rejects(running, ClaimLostError);
    await assertClosedOnce(2);
  },
);
