import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataSource } from 'typeorm';
import { InvalidLockConfigurationError, InvalidLockUseError } from 'cronlatch';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { testOnEvery } from '../../support/databases/fresh';
import { ledgerDataSource } from '../../support/databases/run-tables';

const JOB = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

testOnEvery(
  'a run in a transaction reports that the DataSource is not connected (F-87)',
  async (database) => {
    await (await ledgerDataSource(database)).destroy();
    await using guard = closing(await createJobGuard(new DataSource(database.options), { logger: false }));
    await assert.rejects(
      guard.run(JOB, () => inRunTransaction(() => {})),
      (error) => error instanceof InvalidLockUseError && /dataSource\.initialize\(\)/.test(error.message),
    );
  },
);

void test('createJobGuard refuses anything but a DataSource and its options, and does not repeat it', async () => {
  for (const [source, what] of [
    [undefined, 'undefined'],
    ['mysql://app:hunter2@db.example/app', 'a string'],
    [{ password: 'hunter2' }, 'a plain object'],
    [{ options: { host: 'db.example', password: 'hunter2' } }, 'a plain object'],
    [new Map(), 'Map'],
  ] as const)
    await assert.rejects(
      createJobGuard(source as never),
      (error) =>
        error instanceof InvalidLockConfigurationError &&
        error.message ===
          `cronlatch/typeorm cannot use ${what}. Pass a DataSource of TypeORM, or its options.`,
    );
});
