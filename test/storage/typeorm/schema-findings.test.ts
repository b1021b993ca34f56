import assert from 'node:assert/strict';
import { withChangedTable } from '../../support/databases/changed-table';
import { testOnEvery } from '../../support/databases/fresh';
import { testFlaws } from './flaws/test-flaws';

testOnEvery("the migration's table has no findings", async (database) => {
  await withChangedTable(database, [], {}, async ({ provider, warnings }) => {
    assert.deepEqual(await provider.verifySchema(), []);
    await provider.check();
    assert.deepEqual(warnings, []);
  });
});

// MariaDB has the flaws of MySQL: with the tests of faults.
for (const server of ['mysql', 'postgres', 'sqlite'] as const) testFlaws(server);
