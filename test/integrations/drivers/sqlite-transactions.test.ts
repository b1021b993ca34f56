import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { RunAlreadyCompletedError } from 'cronlatch';
import { completeRunIn, createJobGuard, createTables, inRunTransaction } from 'cronlatch/better-sqlite3';
import { closing } from '../../support/benches/closing';
import { turn } from '../../support/benches/lock';
import { JOB, testDriverTransactions } from '../../support/benches/transaction';

const ON_SQLITE = ['sqlite'] as const;

for (const source of ['pool', 'address'] as const)
  testDriverTransactions(
    `while another process writes, inRunTransaction waits without blocking the event loop (${source})`,
    async ({ database: { ask }, open }) => {
      const bench = await open({ source });
      const database = bench.application.pool as Database.Database;
      database.pragma('busy_timeout = 4321');
      await bench.run(async () => {
        await ask('BEGIN IMMEDIATE');
        let isOver = false;
        const done = bench.book().finally(() => (isOver = true));
        for (let turns = 0; turns < 200; turns += 1) await turn();
        assert.equal(isOver, false);
        assert.equal(database.pragma('busy_timeout', { simple: true }), 4321);
        await ask('COMMIT');
        await done;
        await assert.rejects(bench.bookNothing(), RunAlreadyCompletedError);
      });
      await bench.is('completed', [1]);
      assert.equal(database.pragma('busy_timeout', { simple: true }), 4321);
    },
    ON_SQLITE,
  );

testDriverTransactions(
  'if the file stays busy, inRunTransaction rejects with the error of SQLite, and may be called again',
  async ({ database: { ask }, open }) => {
    const bench = await open({ guard: { statementTimeout: '200ms' } });
    await bench.run(async () => {
      await ask('BEGIN IMMEDIATE');
      await assert.rejects(bench.bookNothing(), /^SqliteError: database is locked$/);
      await ask('COMMIT');
      await bench.book();
    });
    await bench.is('completed', [1]);
  },
  ON_SQLITE,
);

testDriverTransactions(
  'work that returns a promise is rejected, and nothing is committed',
  async ({ open }) => {
    const bench = await open();
    const done = bench.run(() =>
      inRunTransaction((database) => {
        database.exec("INSERT INTO effect VALUES ('today', 1)");
        return Promise.reject(new Error('of the promise'));
      }),
    );
    await assert.rejects(
      done,
      /^InvalidLockUseError: The work of inRunTransaction\(\) returned a promise, .* Nothing was committed\./,
    );
    await bench.is('failed', []);
  },
  ON_SQLITE,
);

testDriverTransactions(
  'a transaction that the work nests is committed with the run',
  async ({ open }) => {
    const bench = await open();
    const write = (own: Database.Database): unknown => own.exec("INSERT INTO effect VALUES ('today', 1)");
    await bench.run(() => inRunTransaction((own) => void own.transaction(write)(own)));
    await bench.is('completed', [1]);
  },
  ON_SQLITE,
);

void test('sqlite: two databases in memory are different, and a guard works in the one that it was given', async () => {
  await using database = closing(new Database(':memory:'));
  await using other = closing(new Database(':memory:'));
  await createTables(database);
  database.exec('CREATE TABLE effect (id INTEGER)');
  await using guard = closing(await createJobGuard(database, { pollInterval: false, logger: false }));
  await guard.run(JOB, async () => {
    other.exec('BEGIN');
    assert.throws(() => completeRunIn(other), /the database of its transaction has no such run/);
    await inRunTransaction((own) => own.exec('INSERT INTO effect VALUES (1)'));
  });
  assert.deepEqual(database.prepare('SELECT id FROM effect').pluck().all(), [1]);
});

void test('sqlite: a handle that reads integers as bigint works, also in memory', async () => {
  await using database = closing(new Database(':memory:').defaultSafeIntegers(true));
  await createTables(database);
  await using guard = closing(await createJobGuard(database, { pollInterval: false, logger: false }));
  await guard.run(JOB, () => inRunTransaction(() => 'done'));
  assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
});
