import assert from 'node:assert/strict';
import type { JobConfiguration, JobGuard } from 'cronlatch';
import { closing } from '../../support/benches/closing';
import { testDrivers, type DriverBench } from '../../support/benches/driver';

const LOCK = { name: 'job', lockAtMostFor: '1m' } as const;
const DAILY: JobConfiguration = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
};

async function withGuard(
  bench: DriverBench,
  source: unknown,
  options: object,
  use: (guard: JobGuard) => Promise<void>,
): Promise<void> {
  await using guard = closing(await bench.createJobGuard(source, { pollInterval: false, ...options }));
  await use(guard);
}

async function runsOnce(guard: JobGuard): Promise<void> {
  const { executed } = await guard.run(LOCK, async ({ fencingToken }) => {
    assert.ok(fencingToken);
    assert.deepEqual(await guard.run({ ...LOCK, name: 'other' }, () => 1), { executed: true, value: 1 });
  });
  assert.equal(executed, true);
  assert.equal((await guard.run(DAILY, () => 'done')).executed, true);
  assert.deepEqual(await guard.run(DAILY, () => 'again'), { executed: false, reason: 'already-completed' });
}

testDrivers('a guard from an address runs jobs, on tables that createTables has created', async (bench) => {
  await bench.createTables();
  assert.deepEqual(await bench.verifySchema(), []);
  await withGuard(bench, bench.url, {}, runsOnce);
});

testDrivers('a guard from a pool runs jobs on connections of its own', async (bench) => {
  await bench.createTables(bench.pool());
  await withGuard(bench, bench.pool(), {}, runsOnce);
  assert.deepEqual(await bench.query('SELECT 1 AS one'), [{ one: 1 }]);
});

testDrivers('two calls of createTables at once both succeed, and a third changes nothing', async (bench) => {
  await Promise.all([bench.createTables(), bench.createTables()]);
  await bench.createTables();
  assert.deepEqual(await bench.verifySchema(), []);
});

/** Calls `next` after a statement, which only some drivers send asynchronously. */
function after(written: unknown, next: () => unknown): unknown {
  return written instanceof Promise ? written.then(next) : next();
}

testDrivers('inRunTransaction commits the effects and the completion together', async (bench) => {
  await bench.createTables();
  await bench.query('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
  for (const source of [bench.url, bench.pool()])
    await withGuard(bench, source, { logger: false }, async (guard) => {
      await bench.query('DELETE FROM effects');
      const jobOf = (name: string): JobConfiguration => ({ ...DAILY, name: `${name} ${typeof source}` });
      const fail = (): never => {
        throw new Error('no');
      };
      const failing = jobOf('failing');
      await assert.rejects(
        guard.run(failing, () =>
          bench.inRunTransaction((effect) => after(effect('INSERT INTO effects VALUES (1)'), fail)),
        ),
        /^Error: no$/,
      );
      assert.equal((await guard.ledger.last(failing.name))?.state, 'failed');
      assert.deepEqual(await bench.query('SELECT id FROM effects'), []);

      const done = jobOf('done');
      const { executed } = await guard.run(done, () =>
        bench.inRunTransaction((effect) => after(effect('INSERT INTO effects VALUES (2)'), () => 'kept')),
      );
      assert.equal(executed, true);
      assert.deepEqual(await bench.query('SELECT id FROM effects'), [{ id: 2 }]);
      const last = await guard.ledger.last(done.name);
      assert.deepEqual([last?.state, last?.result], ['completed', '"kept"']);
    });
});

testDrivers('completeRunIn commits with the transaction of the application, or not at all', async (bench) => {
  await bench.createTables();
  await bench.query('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
  await withGuard(bench, bench.pool(), { logger: false }, async (guard) => {
    const effects = ['INSERT INTO effects VALUES (1)'];
    const undone = guard.run({ ...DAILY, name: 'undone' }, () => bench.completeInOwn(effects, 'ROLLBACK'));
    await assert.rejects(undone, /undone/);
    assert.deepEqual(await bench.query('SELECT id FROM effects'), []);
    await guard.run({ ...DAILY, name: 'done' }, () => bench.completeInOwn(effects));
    assert.deepEqual(await bench.query('SELECT id FROM effects'), [{ id: 1 }]);
    assert.equal((await guard.ledger.last('done'))?.state, 'completed');
  });
});
