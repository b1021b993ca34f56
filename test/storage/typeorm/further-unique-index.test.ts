import assert from 'node:assert/strict';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { databaseOn, SERVER_NAMES, testOn } from '../../support/databases';
import { migratedDataSource } from '../../support/lock-table';

const INDEX = { mysql: 'name(3)', mariadb: 'name(3)', postgres: 'left(name, 3)' };

for (const server of SERVER_NAMES) {
  testOn(server, 'a row that violates only a further unique index is an error, not a held lock', async () => {
    const database = await databaseOn(server);
    const dataSource = await migratedDataSource(database);
    await dataSource.query(`CREATE UNIQUE INDEX beginnings ON shedlock (${INDEX[server]})`);
    const provider = new TypeOrmLockProvider(dataSource);
    try {
      assert.ok(await provider.lock({ name: 'job-1', lockAtMostFor: '1m' }));
      for (let tick = 1; tick <= 2; tick += 1) {
        await assert.rejects(provider.lock({ name: 'job-2', lockAtMostFor: '1m' }), {
          code: 'CRONLATCH_SCHEMA_MISMATCH',
          message: /Could not insert lock 'job-2': it collides .* Drop any additional unique index/,
        });
      }
    } finally {
      await provider.close();
      await dataSource.destroy();
      await database.dispose();
    }
  });
}
