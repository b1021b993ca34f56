import assert from 'node:assert/strict';
import { testWith } from '../../support/databases';
import { lockRows, migratedDataSource } from '../../support/lock-table';
import { sampleSize } from '../../support/sample-size';
import { Child } from '../../processes/child';
import type { CrowdMessage, CrowdOrders } from '../../processes/fixtures/crowd';

const MEMBERS = sampleSize({ fast: 2, full: 4 });

testWith(
  'mysql',
  `${MEMBERS} forks and ${MEMBERS} threads of a process that has used the library are separate holders, and inherit nothing (F-16)`,
  async (database) => {
    const dataSource = await migratedDataSource(database);
    const child = new Child<CrowdMessage>('crowd.js', {
      argument: { options: database.options, members: MEMBERS } satisfies CrowdOrders,
    });
    try {
      const { findings } = await child.received('findings');
      assert.equal(findings.length, 2 * MEMBERS);
      assert.equal(
        new Set(findings.map(({ pid }) => pid)).size,
        MEMBERS + 1,
        'the threads share one process',
      );
      assert.deepEqual(
        findings.flatMap(({ inherited }) => inherited),
        [],
      );
      assert.equal(findings.filter(({ gotShared }) => gotShared).length, 1);
      const owners = (await lockRows(dataSource)).map(({ lockedBy }) => lockedBy);
      assert.equal(new Set(owners).size, 2 * MEMBERS + 1);
    } finally {
      await child.end();
      await dataSource.destroy();
    }
  },
);
