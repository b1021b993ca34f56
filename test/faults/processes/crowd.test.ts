import assert from 'node:assert/strict';
import { testWith } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';
import { sampleSize } from '../../support/checks/sample-size';
import { Child } from '../../processes/child';
import type { CrowdMessage, CrowdOrders } from '../../processes/fixtures/crowd';
import { closing } from '../../support/benches/closing';

const MEMBERS = sampleSize({ fast: 2, full: 4 });

testWith(
  'mysql',
  `${MEMBERS} forks and ${MEMBERS} threads of a process that has used the library are separate holders, and inherit nothing (F-16)`,
  async (database) => {
    await using dataSource = closing(await migratedDataSource(database));
    await using child = closing(
      new Child<CrowdMessage>('crowd.js', {
        argument: { options: database.options, members: MEMBERS } satisfies CrowdOrders,
      }),
    );
    const { findings } = await child.received('findings');
    assert.equal(findings.length, 2 * MEMBERS);
    assert.equal(new Set(findings.map(({ pid }) => pid)).size, MEMBERS + 1, 'the threads share one process');
    assert.deepEqual(
      findings.flatMap(({ inherited }) => inherited),
      [],
    );
    assert.equal(findings.filter(({ gotShared }) => gotShared).length, 1);
    const owners = (await lockRows(dataSource)).map(({ lockedBy }) => lockedBy);
    assert.equal(new Set(owners).size, 2 * MEMBERS + 1);
  },
);
