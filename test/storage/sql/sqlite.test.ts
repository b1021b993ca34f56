import assert from 'node:assert/strict';
import Database from 'better-sqlite3';
import { DataSource } from 'typeorm';
import { LockStorageError, type LockConfiguration } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { test } from 'node:test';
import { closing } from '../../support/benches/closing';
import { DatabaseBench, testOnDatabases } from '../../support/benches/database';
import { turn } from '../../support/benches/lock';
import { lockRows } from '../../support/databases/lock-table';
import { createRunTables, ledgerDataSource } from '../../support/databases/run-tables';
import { CLAIM, FAILED, LIMIT, RUNNING } from '../../support/jobs/runs';
import { TypeOrmRunStore } from '../../support/stores/typeorm-run-store';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };
const BUSY = { code: 'CRONLATCH_STORAGE', outcome: 'contention', driverCode: 'SQLITE_BUSY' };

const runsOf = (bench: DatabaseBench): TypeOrmRunStore =>
  bench.closeAtEnd(new TypeOrmRunStore(bench.application));

/** Another process, which writes until it commits. */
function writerIn({ database }: DatabaseBench): { commit(): void } {
  const writer = new Database(database.environment['DATABASE_FILE'] ?? '', { timeout: 0 });
  writer.exec('BEGIN IMMEDIATE');
  return {
    commit() {
      writer.exec('COMMIT');
      writer.close();
    },
  };
}

function testInFile(name: string, body: (bench: DatabaseBench) => Promise<void>): void {
  testOnDatabases(name, body, ['sqlite']);
}

function testInMemory(name: string, body: (bench: DatabaseBench) => Promise<void>): void {
  void test(`in memory: ${name}`, async () => {
    const options = { type: 'better-sqlite3', database: ':memory:' } as const;
    const database = { options, environment: {}, dispose: () => Promise.resolve() };
    await using bench = closing(new DatabaseBench(database, await ledgerDataSource(database)));
    await body(bench);
  });
}

testInFile(
  'while another process writes, a lock and a change wait without blocking the event loop (F-55)',
  async (bench) => {
    const [provider, store] = [bench.provider(), runsOf(bench)];
    await store.insert(RUNNING, LIMIT);
    const writer = writerIn(bench);
    let isAsked = false;
    const locking = provider.lock(JOB);
    const changing = store.change(CLAIM, (found) => ({ value: (isAsked = found !== undefined) }), LIMIT);
    for (let turns = 0; turns < 1000; turns += 1) await turn();
    assert.equal(isAsked, false);
    writer.commit();
    assert.ok(await locking);
    assert.equal(await changing, true);
  },
);

testInFile(
  'a file that stays busy is contention, and nothing is granted or written afterwards (F-55)',
  async (bench) => {
    const [provider, store] = [bench.provider({ statementTimeout: '200ms' }), runsOf(bench)];
    await store.check();
    const writer = writerIn(bench);
    await assert.rejects(provider.lock(JOB), BUSY);
    await assert.rejects(store.insert({ ...RUNNING, event: FAILED }, { timeoutMs: 100 }), BUSY);
    writer.commit();
    assert.deepEqual([await lockRows(bench.application), await store.overdue([], LIMIT)], [[], []]);
  },
);

testInFile('a file in rollback mode is used as it is, with one warning', async (bench) => {
  await bench.application.destroy();
  const application = await bench.connected({ enableWAL: false });
  await application.query('PRAGMA journal_mode = DELETE');
  const warnings: string[] = [];
  const logger = { warn: (line: string) => void warnings.push(line), error: () => assert.fail() };
  const guard = await bench.openGuard({ logger }, application);
  for (const name of ['a', 'b']) assert.equal((await guard.run({ ...JOB, name }, () => {})).executed, true);
  assert.equal(warnings.length, 1);
  assert.match(warnings[0] ?? '', /rollback mode/);
  assert.deepEqual(await application.query('PRAGMA journal_mode'), [{ journal_mode: 'delete' }]);
});

testInFile(
  'our statements do not join a transaction of the application in the same file (F-49)',
  async (bench) => {
    const guard = await bench.openGuard();
    const rolledBack = bench.application.transaction(async () => {
      // Nothing is written yet: in WAL mode a reader does not block our commit.
      assert.equal((await guard.run(JOB, () => {})).executed, true);
      throw new Error('roll back');
    });
    await assert.rejects(rolledBack, { message: 'roll back' });
    assert.equal((await lockRows(bench.application)).length, 1);
  },
);

testInFile('a statement that fails rolls back the whole transaction', async (bench) => {
  const store = runsOf(bench);
  const refused = { code: 'CRONLATCH_SCHEMA_MISMATCH' };
  await bench.application.query('DROP TABLE cronlatch_run_event');
  await assert.rejects(store.insert({ ...RUNNING, event: FAILED }, LIMIT), refused);
  await createRunTables(bench.application);
  await store.check();
  await bench.application.query('ALTER TABLE cronlatch_run_event RENAME TO gone');
  await assert.rejects(store.insert({ ...RUNNING, event: FAILED }, LIMIT), refused);
  assert.deepEqual(await bench.application.query('SELECT * FROM cronlatch_run'), []);
});

testInMemory('a database is shared, because it cannot be opened twice', async ({ application }) => {
  const guard = await createJobGuard(application);
  assert.equal((await guard.run(JOB, () => {})).executed, true);
  assert.equal((await lockRows(application)).length, 1);
  await guard.close();
  assert.equal(application.isInitialized, true);
});

testInMemory(
  'a statement waits for the end of the application’s transaction, and does not join it',
  async (bench) => {
    const { application } = bench;
    const provider = bench.provider({}, application);
    const store = runsOf(bench);
    let asked: Promise<unknown>[] = [];
    const rolledBack = application.transaction(async (manager) => {
      await manager.query(`INSERT INTO shedlock VALUES ('app', 0, 0, 'app', 1)`);
      asked = [provider.lock(JOB), store.insert({ ...RUNNING, event: FAILED }, LIMIT)];
      await turn();
      throw new Error('roll back');
    });
    await assert.rejects(rolledBack, { message: 'roll back' });
    const [lock, isInserted] = await Promise.all(asked);
    assert.ok(lock);
    assert.equal(isInserted, true);
    assert.deepEqual(
      (await lockRows(application)).map(({ name }) => name),
      ['job'],
    );
    await assert.rejects(
      store.change(CLAIM, () => assert.fail('mine'), LIMIT),
      { message: 'mine' },
    );
    assert.equal((await store.events(CLAIM, LIMIT)).length, 1);
  },
);

testInMemory(
  'while the application stays inside a transaction no statement runs, and the error names the reason',
  async (bench) => {
    const provider = bench.provider({ statementTimeout: '100ms' }, bench.application);
    await bench.application.transaction(async () => {
      await assert.rejects(
        provider.lock(JOB),
        (error) =>
          error instanceof LockStorageError &&
          error.outcome === 'nothing-ran' &&
          /the application kept the connection .* inside a transaction/.test(error.message),
      );
    });
    assert.deepEqual(await lockRows(bench.application), []);
  },
);

testInMemory(
  'if the database cannot grow, a lock that needs space is an error, and one that needs none is granted (F-51)',
  async (bench) => {
    const { application } = bench;
    const provider = bench.provider({}, application);
    await (await provider.lock(JOB))?.unlock();
    const [size] = await application.query<{ page_count: number }[]>('PRAGMA page_count');
    await application.query(`PRAGMA max_page_count = ${size?.page_count ?? 0}`);
    let taken = 0;
    const untilFull = async (): Promise<never> => {
      for (;;) {
        assert.ok(await provider.lock({ ...JOB, name: `job-${taken}` }));
        taken += 1;
      }
    };
    await assert.rejects(untilFull(), {
      code: 'CRONLATCH_STORAGE',
      outcome: 'nothing-ran',
      driverCode: 'SQLITE_FULL',
    });
    assert.equal((await lockRows(application)).length, taken + 1);
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
    await application.query('PRAGMA max_page_count = 1000');
    assert.ok(await provider.lock({ ...JOB, name: `job-${taken}` }));
  },
);

void test('a database in memory whose DataSource is not initialized is an error that names the reason (F-87)', async () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  await assert.rejects(
    createJobGuard(dataSource),
    /Cannot open SQLite \(:memory:\): the DataSource .* is not initialized/,
  );
});
