import assert from 'node:assert/strict';
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

for (const nameLength of [64, 255]) {
  testOnEvery(
    `a name of up to ${nameLength} characters is kept whole, and a longer one refused (F-66)`,
    async (database) => {
      const migrations = [createCronlatchMigration({ tables: ['lock'], nameLength })];
      await using dataSource = closing(await migratedDataSource(database, { migrations }));
      await using provider = closing(new TypeOrmLockProvider(dataSource, { nameLength }));
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
    },
  );
}
