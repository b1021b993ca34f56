import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { InvalidLockUseError } from 'cronlatch';
import { createJobGuard, inRunTransaction } from 'cronlatch/typeorm';
import { testOnEvery } from '../../support/databases';
import { ledgerDataSource } from '../../support/run-places';

const JOB = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

testOnEvery(
  'a run in a transaction reports that the DataSource is not connected (F-87)',
  async (database) => {
    await (await ledgerDataSource(database)).destroy();
    const guard = await createJobGuard(new DataSource(database.options), { logger: false });
    try {
      await assert.rejects(
        guard.run(JOB, () => inRunTransaction(() => {})),
        (error) => error instanceof InvalidLockUseError && /dataSource\.initialize\(\)/.test(error.message),
      );
    } finally {
      await guard.close();
    }
  },
);
