import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { InvalidLockConfigurationError } from 'cronlatch';
import { createCronlatchMigration, TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { testOnEvery } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';
import { reasonOf } from '../../support/benches/guard';

const JOB = { lockAtMostFor: '10m' } as const;
const LENGTHS = [0, 1, 63, 64, 65, 190, 191, 254, 255, 256, 1_000_000];
/** One byte each in UTF-8, or four. */
const CHARACTERS = ['x', '\u{1f512}'];

/**
 * In lenient sessions no name is too long, because the server truncates it. SQLite and PostgreSQL have no
 * such sessions.
 */
async function beLenient(application: DataSource): Promise<void> {
  if (/^(mysql|mariadb)$/.test(application.options.type)) await application.query(`SET sql_mode = ''`);
}

for (const nameLength of [64, 255]) {
  testOnEvery(
    `a name of up to ${nameLength} characters is kept whole, and a longer one refused, even in lenient sessions (F-66)`,
    async (database) => {
      const migrations = [createCronlatchMigration({ tables: ['lock'], nameLength })];
      await using dataSource = closing(await migratedDataSource(database, { migrations, poolSize: 1 }));
      for (const connections of ['own', 'shared'] as const) {
        await beLenient(dataSource);
        await dataSource.query('DELETE FROM shedlock');
        const provider = new TypeOrmLockProvider(dataSource, { connections, nameLength });
        const kept: string[] = [];
        for (const character of CHARACTERS)
          for (const length of LENGTHS) {
            const name = character.repeat(length);
            const asked = provider.lock({ ...JOB, name, nameLength });
            if (length === 0 || length > nameLength) {
              assert.ok((await reasonOf(asked)) instanceof InvalidLockConfigurationError, `${length}`);
              continue;
            }
            assert.equal(await (await asked)?.extend('20m'), true, `${length}`);
            kept.push(name);
          }
        const names = (await lockRows(dataSource)).map(({ name }) => name);
        assert.deepEqual(new Set(names), new Set(kept));
        assert.equal(names.length, kept.length);
        await provider.close();
      }
    },
  );
}
