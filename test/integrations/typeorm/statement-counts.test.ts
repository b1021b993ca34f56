import assert from 'node:assert/strict';
import { DataSource } from 'typeorm';
import { createJobGuard } from 'cronlatch/typeorm';
import { mysqlDatabase, testOn } from '../../support/databases';
import { loggedUser } from '../../support/general-log';
import { migratedDataSource } from '../../support/lock-table';

const JOB = { name: 'job', lockAtMostFor: '1m' } as const;

testOn(
  'mysql',
  'a run costs two statements, a refused tick one and a look a minute, the token none',
  async () => {
    const database = await mysqlDatabase();
    const dataSource = await migratedDataSource(database);
    const log = await loggedUser(database);
    const guard = await createJobGuard(new DataSource({ type: 'mysql', url: log.url }));
    const other = await createJobGuard(dataSource);
    try {
      const atStart = await log.statements();
      assert.deepEqual(
        atStart.map((text) => text.replace(/ .*/, '')),
        ['SELECT', 'SET', 'SET', 'SELECT'],
        atStart.join('\n'),
      );

      await guard.run(JOB, () => {});
      assert.deepEqual(
        verbs(await log.statements()),
        ['UPDATE', 'INSERT', 'UPDATE'],
        'the first run inserts',
      );

      const { executed } = await guard.run(JOB, (lock) => assert.ok(lock.fencingToken));
      assert.ok(executed);
      assert.deepEqual(verbs(await log.statements()), ['UPDATE', 'UPDATE'], 'a run');

      await other.run(JOB, async () => {
        await guard.run(JOB, () => assert.fail('ran'));
        assert.deepEqual(verbs(await log.statements()), ['UPDATE', 'SELECT'], 'the first refused tick looks');
        for (let tick = 0; tick < 5; tick += 1) await guard.run(JOB, () => assert.fail('ran'));
        assert.deepEqual(
          verbs(await log.statements()),
          ['UPDATE', 'UPDATE', 'UPDATE', 'UPDATE', 'UPDATE'],
          'refused ticks',
        );
      });

      await guard.run({ ...JOB, name: 'whole-lease', lockAtLeastFor: '1m' }, () => {});
      assert.deepEqual(
        verbs(await log.statements()),
        ['UPDATE', 'INSERT'],
        'no release where the lease ends by itself',
      );
    } finally {
      await guard.close();
      await other.close();
      await dataSource.destroy();
      await log.dispose();
      await database.dispose();
    }
  },
);

function verbs(statements: string[]): string[] {
  return statements.map((text) => text.replace(/\s.*/s, ''));
}
