import assert from 'node:assert/strict';
import { SchemaMismatchError } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../../support/benches/closing';
import { withChangedTable } from '../../../support/databases/changed-table';
import { testOnEvery } from '../../../support/databases/fresh';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;
const NO_TOKEN = ['ALTER TABLE shedlock DROP COLUMN fencing_token'];

testOnEvery('a table with several faults causes one error that lists each with its fix', async (database) => {
  const faults = ['locked_at', 'locked_by', 'fencing_token'].map(
    (column) => `ALTER TABLE shedlock DROP COLUMN ${column}`,
  );
  await withChangedTable(database, faults, {}, async ({ dataSource, provider }) => {
    const findings = await provider.verifySchema();
    assert.deepEqual(
      findings.map(({ severity, code }) => [severity, code]),
      [
        ['error', 'missing-column'],
        ['error', 'missing-column'],
        ['warning', 'no-fencing-token'],
      ],
    );
    const errors = findings.slice(0, 2).map(({ message }) => message);
    await assert.rejects(createJobGuard(dataSource), (error) => {
      return (
        error instanceof SchemaMismatchError &&
        error.outcome === 'nothing-ran' &&
        error.message === errors.join('\n')
      );
    });
  });
});

testOnEvery('a limitation causes one warning at the start, and no more', async (database) => {
  await withChangedTable(database, NO_TOKEN, {}, async ({ dataSource, provider }) => {
    const findings = await provider.verifySchema();
    const warned: string[] = [];
    const logger = { warn: (line: string) => void warned.push(line), error: assert.fail };
    await using guard = closing(await createJobGuard(dataSource, { logger }));
    assert.equal(warned.length, findings.length);
    for (const [i, { message }] of findings.entries()) assert.ok(warned[i]?.includes(message), warned[i]);
    for (let run = 1; run <= 3; run += 1) {
      const { executed } = await guard.run(JOB, (lock) => assert.equal(lock.fencingToken, undefined));
      assert.equal(executed, true);
    }
    assert.equal(warned.length, findings.length);
  });
});

testOnEvery(
  'if a guard starts without the database, its first run reports the limitation',
  async (database) => {
    await withChangedTable(database, NO_TOKEN, {}, async ({ dataSource, provider }) => {
      const findings = await provider.verifySchema();
      await using guard = closing(await createJobGuard(dataSource, { lazy: true, logger: false }));
      const warned: string[] = [];
      guard.on('guard:warning', ({ message }) => void warned.push(message));
      await Promise.all(['a', 'b', 'c'].map((name) => guard.run({ ...JOB, name }, () => {})));
      assert.deepEqual(
        warned,
        findings.map(({ message }) => message),
      );
    });
  },
);

testOnEvery(
  'a guard that starts after a token column was added under held locks uses the column',
  async (database) => {
    await withChangedTable(database, NO_TOKEN, {}, async ({ dataSource, provider }) => {
      const [finding] = await provider.verifySchema();
      const before = await provider.lock(JOB);
      assert.ok(before && finding?.remedy);
      await dataSource.query(finding.remedy);
      await using guard = closing(await createJobGuard(dataSource));
      assert.equal((await guard.run(JOB, () => {})).executed, false);
      assert.equal(await before.extend('10m'), true);
      assert.equal(await before.unlock(), true);
      const { executed } = await guard.run(JOB, (lock) => assert.ok((lock.fencingToken ?? 0) > 1e15));
      assert.equal(executed, true);
      // The guard that started without tokens continues without them, and its locks still exclude others.
      const after = await provider.lock(JOB);
      assert.ok(after);
      assert.equal(after.fencingToken, undefined);
      assert.equal((await guard.run(JOB, () => {})).executed, false);
    });
  },
);
