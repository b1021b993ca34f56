import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { turn } from '../../support/benches/lock';
import { withRunStore } from '../../support/benches/run-store';
import { testWith } from '../../support/databases/fresh';
import { createRunTables } from '../../support/databases/run-tables';
import { CLAIM, FAILED, LIMIT, RUNNING } from '../../support/jobs/runs';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

testWith(
  'sqlite',
  'while another process writes, a change waits without blocking the event loop',
  async (database) => {
    await withRunStore(database, {}, async ({ store }) => {
      await store.insert(RUNNING, LIMIT);
      const writer = new Database(database.environment['DATABASE_FILE'] ?? '', { timeout: 0 });
      writer.exec('BEGIN IMMEDIATE');
      let isAsked = false;
      const changing = store.change(CLAIM, (found) => ({ value: (isAsked = found !== undefined) }), LIMIT);
      for (let turns = 0; turns < 1000; turns += 1) await turn();
      assert.equal(isAsked, false);
      writer.exec('COMMIT');
      writer.close();
      assert.equal(await changing, true);
    });
  },
);

testWith(
  'sqlite',
  'a file that stays busy is contention, and nothing is written afterwards',
  async (database) => {
    await withRunStore(database, {}, async ({ store }) => {
      await store.check();
      const writer = new Database(database.environment['DATABASE_FILE'] ?? '', { timeout: 0 });
      writer.exec('BEGIN IMMEDIATE');
      const busy = { outcome: 'contention', driverCode: 'SQLITE_BUSY' };
      await assert.rejects(store.insert({ ...RUNNING, event: FAILED }, { timeoutMs: 100 }), busy);
      writer.exec('COMMIT');
      writer.close();
      assert.deepEqual(await store.overdue([], LIMIT), []);
    });
  },
);

testWith('sqlite', 'a statement that fails rolls back the whole transaction', async (database) => {
  await withRunStore(
    database,
    { changes: ['DROP TABLE cronlatch_run_event'] },
    async ({ store, application }) => {
      await assert.rejects(store.insert({ ...RUNNING, event: FAILED }, LIMIT), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
      });
      await createRunTables(application);
      await store.check();
      await application.query('ALTER TABLE cronlatch_run_event RENAME TO gone');
      await assert.rejects(store.insert({ ...RUNNING, event: FAILED }, LIMIT), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
      });
      assert.deepEqual(await application.query('SELECT * FROM cronlatch_run'), []);
    },
  );
});

testWith(
  'sqlite',
  'a database in memory holds runs, beside the transactions of the application',
  async () => {
    const dataSource = await new DataSource({ type: 'better-sqlite3', database: ':memory:' }).initialize();
    await createRunTables(dataSource);
    const store = new TypeOrmRunStore(dataSource);
    let inserting: Promise<boolean> = Promise.resolve(false);
    const rolledBack = dataSource.transaction(async (manager) => {
      await manager.query('CREATE TABLE effects (id INTEGER)');
      inserting = store.insert({ ...RUNNING, event: FAILED }, LIMIT);
      await turn();
      throw new Error('roll back');
    });
    await assert.rejects(rolledBack, { message: 'roll back' });
    assert.equal(await inserting, true);
    await assert.rejects(
      store.change(CLAIM, () => assert.fail('mine'), LIMIT),
      { message: 'mine' },
    );
    assert.equal((await store.events(CLAIM, LIMIT)).length, 1);
    await dataSource.destroy();
  },
);
