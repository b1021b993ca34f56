import assert from 'node:assert/strict';
import { TypeOrmLockProvider } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { testOnEvery } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';

const JOB = { name: 'job', lockAtMostFor: '1h' } as const;

/** How the row of a held lock can be lost. TypeORM runs the migration again only if it was undone, which keeps used tables. */
const LOSSES = {
  'whose table was dropped and created again': ['DELETE FROM shedlock', 'undo', 'migrate'],
  'whose row was deleted': ['DELETE FROM shedlock'],
} as const;

for (const [which, steps] of Object.entries(LOSSES))
  testOnEvery(`a lock ${which} is granted at once to a process that was just refused`, async (database) => {
    await using dataSource = closing(await migratedDataSource(database));
    await using holder = closing(new TypeOrmLockProvider(dataSource));
    await using refused = closing(new TypeOrmLockProvider(dataSource));
    assert.ok(await holder.lock(JOB));
    for (let tick = 1; tick <= 2; tick += 1) assert.equal(await refused.lock(JOB), undefined);
    for (const step of steps)
      if (step === 'undo') await dataSource.undoLastMigration();
      else if (step === 'migrate') await dataSource.runMigrations();
      else await dataSource.query(step);
    assert.ok(await refused.lock(JOB));
    assert.equal(await holder.lock(JOB), undefined);
  });
