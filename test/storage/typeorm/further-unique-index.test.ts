import assert from 'node:assert/strict';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { databaseOn, testOnEveryServer } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';

const INDEX = { mysql: 'name(3)', mariadb: 'name(3)', postgres: 'left(name, 3)' };

testOnEveryServer(
  'a row that violates only a further unique index is an error, not a held lock',
  async (server) => {
    await using database = closing(await databaseOn(server));
    await using dataSource = closing(await migratedDataSource(database));
    await dataSource.query(`CREATE UNIQUE INDEX beginnings ON shedlock (${INDEX[server]})`);
    await using provider = closing(new TypeOrmLockProvider(dataSource));
    assert.ok(await provider.lock({ name: 'job-1', lockAtMostFor: '1m' }));
    for (let tick = 1; tick <= 2; tick += 1) {
      await assert.rejects(provider.lock({ name: 'job-2', lockAtMostFor: '1m' }), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
        message: /Could not insert lock 'job-2': it collides .* Drop any additional unique index/,
      });
    }
  },
);
