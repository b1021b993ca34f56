import assert from 'node:assert/strict';
import type { EventEmitter } from 'node:events';
import type { LockConfiguration } from 'cronlatch';
import { ServerBench, testOnServers } from '../../support/benches/server';
import { testOn } from '../../support/databases/fresh';
import { lockRows } from '../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

/** The application's only connection, and a provider that shares it. */
async function withOneConnection(bench: ServerBench) {
  const application = await bench.connected({ poolSize: 1 });
  return { application, provider: bench.provider({ connections: 'shared' }, application) };
}

testOnServers(
  'a connection that was left inside a transaction is not used for a grant, and is destroyed',
  async (bench) => {
    const { application, provider } = await withOneConnection(bench);
    await provider.lock({ ...JOB, name: 'first' });
    const leak = application.createQueryRunner();
    await leak.query('START TRANSACTION');
    await leak.release();
    await assert.rejects(provider.lock(JOB), /left inside a transaction, which is now rolled back/);
    assert.deepEqual(
      (await lockRows(application)).map(({ name }) => name),
      ['first'],
    );
    assert.ok(await provider.lock(JOB));
  },
);

testOn(
  'postgres',
  'a connection whose transaction has failed runs no statement, and is destroyed',
  async () => {
    const bench = await ServerBench.on('postgres');
    const { application, provider } = await withOneConnection(bench);
    await (await provider.lock(JOB))?.unlock();
    const leak = application.createQueryRunner();
    await leak.query('START TRANSACTION');
    await assert.rejects(leak.query('SELECT 1 / 0'), /division by zero/);
    await leak.release();
    await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran', driverCode: '25P02' });
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
    await bench.dispose();
  },
);

testOn('postgres', 'providers that share a connection leave nothing behind on it', async () => {
  const bench = await ServerBench.on('postgres');
  const { application } = await withOneConnection(bench);
  const listeners = async (): Promise<number> => {
    const runner = application.createQueryRunner();
    const { connection } = (await runner.connect()) as { connection: EventEmitter };
    await runner.release();
    return connection.listenerCount('readyForQuery');
  };
  const before = await listeners();
  for (let i = 0; i < 3; i += 1) {
    const provider = bench.provider({ connections: 'shared' }, application);
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
  }
  assert.equal(await listeners(), before);
  await bench.dispose();
});

for (const connections of ['own', 'shared'] as const) {
  for (const end of ['is rolled back', 'commits']) {
    testOnServers(
      `a transaction of the application that ${end} does not affect the lock's row (${connections} connections) (P8, F-49)`,
      async (bench) => {
        const { application } = bench;
        await application.query('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
        const provider = bench.provider({ connections }, application);
        const inside = application.transaction(async (manager) => {
          await manager.query('INSERT INTO effects VALUES (1)');
          assert.ok(await provider.lock({ ...JOB, name: 'held' }));
          const extended = await provider.lock({ ...JOB, name: 'extended' });
          assert.equal(await extended?.extend('2m'), true);
          const released = await provider.lock({ ...JOB, name: 'released' });
          assert.equal(await released?.unlock(), true);
          const rows = await lockRows(application);
          assert.deepEqual(
            rows.map(({ name, held }) => [name, held]),
            [
              ['extended', true],
              ['held', true],
              ['released', false],
            ],
          );
          if (end === 'is rolled back') throw Object.assign(new Error('roll back'), { rows });
          return rows;
        });
        const before = await inside.catch((error: { rows: unknown }) => error.rows);
        assert.deepEqual(await lockRows(application), before);
        const effects = await application.query<unknown[]>('SELECT id FROM effects');
        assert.equal(effects.length, end === 'commits' ? 1 : 0);
      },
    );
  }
}
