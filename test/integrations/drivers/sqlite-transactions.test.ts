import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { InvalidLockUseError, RunAlreadyCompletedError, type JobGuard } from 'cronlatch';
import {
  completeRunIn,
  createJobGuard,
  createTables,
  inRunTransaction,
  type CreateJobGuardOptions,
} from 'cronlatch/better-sqlite3';
import { reasonOf } from '../../support/benches/guard';
import { turn } from '../../support/benches/lock';
import { JOB } from '../../support/benches/transaction';

interface Bench {
  readonly address: string;
  /** The application's handle. */
  readonly database: Database.Database;
  /** That of another process. */
  readonly other: Database.Database;
  readonly guard: JobGuard;
  readonly effects: () => number[];
  readonly state: () => Promise<string | undefined>;
}

function testSqlite(
  name: string,
  body: (bench: Bench) => Promise<void>,
  { source = 'handle', ...options }: CreateJobGuardOptions & { source?: 'handle' | 'address' } = {},
): void {
  void test(`sqlite: ${name}`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'cronlatch-'));
    const address = `sqlite:${join(folder, 'jobs.db')}`;
    await createTables(address);
    const [database, other] = [new Database(join(folder, 'jobs.db')), new Database(join(folder, 'jobs.db'))];
    database.exec('CREATE TABLE effect (id INTEGER)');
    const settings = { pollInterval: false, logger: false, ...options } as const;
    const guard = await createJobGuard(source === 'handle' ? database : address, settings);
    const effects = (): number[] => other.prepare('SELECT id FROM effect').pluck().all() as number[];
    const state = async (): Promise<string | undefined> => (await guard.ledger.last(JOB.name))?.state;
    try {
      await body({ address, database, other, guard, effects, state });
    } finally {
      await guard.close();
      for (const each of [database, other]) each.close();
      rmSync(folder, { recursive: true });
    }
  });
}

const writeEffect = (database: Database.Database): unknown => database.exec('INSERT INTO effect VALUES (1)');

for (const source of ['handle', 'address'] as const)
  testSqlite(
    `while another process writes, inRunTransaction waits without blocking the event loop (${source})`,
    async ({ database, other, guard, effects, state }) => {
      database.pragma('busy_timeout = 4321');
      await guard.run(JOB, async () => {
        other.exec('BEGIN IMMEDIATE');
        let isOver = false;
        const done = inRunTransaction(writeEffect).finally(() => (isOver = true));
        for (let turns = 0; turns < 200; turns += 1) await turn();
        assert.equal(isOver, false);
        assert.equal(database.pragma('busy_timeout', { simple: true }), 4321);
        other.exec('COMMIT');
        await done;
        await assert.rejects(
          inRunTransaction(() => assert.fail()),
          RunAlreadyCompletedError,
        );
      });
      assert.deepEqual(effects(), [1]);
      assert.equal(await state(), 'completed');
      assert.equal(database.pragma('busy_timeout', { simple: true }), 4321);
    },
    { source },
  );

testSqlite(
  'if the file stays busy, inRunTransaction rejects with the error of SQLite, and may be called again',
  async ({ other, guard, effects }) => {
    await guard.run(JOB, async () => {
      other.exec('BEGIN IMMEDIATE');
      await assert.rejects(
        inRunTransaction(() => assert.fail()),
        /^SqliteError: database is locked$/,
      );
      other.exec('COMMIT');
      await inRunTransaction(writeEffect);
    });
    assert.deepEqual(effects(), [1]);
  },
  { statementTimeout: '200ms' },
);

testSqlite(
  'if the handle stays in another transaction, the error suggests completeRunIn',
  async ({ database, guard, effects, state }) => {
    await guard.run(JOB, async () => {
      database.exec('BEGIN');
      writeEffect(database);
      const refused = await reasonOf(inRunTransaction(() => assert.fail()));
      assert.ok(refused instanceof InvalidLockUseError);
      assert.match(
        refused.message,
        /the database was in another transaction for 200 ms\. .*completeRunIn\(database\)\.$/,
      );
      completeRunIn(database);
      database.exec('COMMIT');
    });
    assert.deepEqual(effects(), [1]);
    assert.equal(await state(), 'completed');
  },
  { statementTimeout: '200ms' },
);

testSqlite('work that returns a promise is rejected, and nothing is committed', async (bench) => {
  const rejection = new Error('of the promise');
  const done = bench.guard.run(JOB, () =>
    inRunTransaction((database) => {
      writeEffect(database);
      return Promise.reject(rejection);
    }),
  );
  await assert.rejects(
    done,
    /^InvalidLockUseError: The work of inRunTransaction\(\) returned a promise, .* Nothing was committed\./,
  );
  assert.deepEqual(bench.effects(), []);
  assert.equal(await bench.state(), 'failed');
});

testSqlite('a completion without a handle is refused', async ({ address, guard }) => {
  await guard.run(JOB, () => {
    for (const value of [null, address, {}])
      assert.throws(
        () => completeRunIn(value as never),
        /^InvalidLockUseError: completeRunIn\(\) cannot use (null|a string|a plain object)\. Pass the connection/,
      );
  });
});

void test('sqlite: two databases in memory are different, and a guard works in the one that it was given', async () => {
  const [database, other] = [new Database(':memory:'), new Database(':memory:')];
  await createTables(database);
  database.exec('CREATE TABLE effect (id INTEGER)');
  const guard = await createJobGuard(database, { pollInterval: false, logger: false });
  try {
    await guard.run(JOB, async () => {
      other.exec('BEGIN');
      assert.throws(() => completeRunIn(other), /the database of its transaction has no such run/);
      await inRunTransaction(writeEffect);
    });
    assert.deepEqual(database.prepare('SELECT id FROM effect').pluck().all(), [1]);
  } finally {
    await guard.close();
    for (const each of [database, other]) each.close();
  }
});

void test('sqlite: a handle that reads integers as bigint works, also in memory', async () => {
  const database = new Database(':memory:').defaultSafeIntegers(true);
  await createTables(database);
  const guard = await createJobGuard(database, { pollInterval: false, logger: false });
  await guard.run(JOB, () => inRunTransaction(() => 'done'));
  assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
  await guard.close();
  database.close();
});
