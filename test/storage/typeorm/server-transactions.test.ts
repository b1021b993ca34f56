import assert from 'node:assert/strict';
import type { LockConfiguration } from 'cronlatch';
import { testOnServers } from '../../support/benches/server';
import { lockRows } from '../../support/databases/lock-table';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

for (const end of ['is rolled back', 'commits']) {
  testOnServers(
    `a transaction of the application that ${end} does not affect the lock's row (P8, F-49)`,
    async (bench) => {
      const { application } = bench;
      await application.query('CREATE TABLE effects (id INTEGER PRIMARY KEY)');
      const provider = bench.provider({}, application);
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
