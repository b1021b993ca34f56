/** Locks that wait for a connection travel together, and each gets the answer that it would get alone. */
import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { systemClock } from '#cronlatch/core/clock';
import { DatabaseAccess } from '#cronlatch/storage/sql/database/database-access';
import { lockTableIn } from '#cronlatch/storage/sql/database/sql-database';
import { GroupingStorageAccessor } from '#cronlatch/storage/sql/lock/grouping-storage-accessor';
import type { SqlExecutor, SqlStatement } from '#cronlatch/storage/sql/connections/sql-executor';
import type { DataSource } from 'typeorm';
import { databaseOn, SERVER_NAMES, testOn, type ServerName } from '../../support/databases';
import { driverPlace } from '../../support/driver-place';
import { migratedDataSource } from '../../support/lock-table';

const LIMIT = { timeoutMs: 5000 };
const request = (name: string, owner = `owner of ${name}`) => ({
  ...{ name, owner },
  ...{ lockAtMostForMs: 60_000, lockAtLeastForMs: 0 },
});
const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `job-${index}`);

interface Bench {
  readonly accessor: GroupingStorageAccessor;
  /** Another instance of the application. */
  readonly other: GroupingStorageAccessor;
  readonly operator: DataSource;
  /** The statements of `accessor` since the last call. */
  readonly statements: () => readonly SqlStatement[];
}

function testGroups(name: string, body: (bench: Bench, server: ServerName) => Promise<void>): void {
  for (const server of SERVER_NAMES)
    testOn(server, name, async () => {
      const database = await databaseOn(server);
      const operator = await migratedDataSource(database);
      const place = driverPlace(server === 'postgres' ? 'pg' : 'mysql2', 'own', database.url);
      const sent: SqlStatement[] = [];
      const instance = (log: SqlStatement[]): GroupingStorageAccessor & { close(): Promise<void> } => {
        const access = new DatabaseAccess(place.database, { statementTimeout: '2s' });
        const executor = logging(access.forTables.executor, log);
        const table = lockTableIn(place.database, {});
        const options = { ...access.forTables, executor, table, clock: systemClock, random: Math.random };
        return Object.assign(new GroupingStorageAccessor(options), { close: () => access.close() });
      };
      const accessor = instance(sent);
      const other = instance([]);
      try {
        await accessor.check(LIMIT);
        await other.check(LIMIT);
        sent.length = 0;
        await body({ accessor, other, operator, statements: () => sent.splice(0) }, server);
      } finally {
        await Promise.all([accessor.close(), other.close(), place.close()]);
        await operator.destroy();
        await database.dispose();
      }
    });
}

function logging(executor: SqlExecutor, log: SqlStatement[]): SqlExecutor {
  return {
    execute: (statement, options) => (log.push(statement), executor.execute(statement, options)),
    inTurn: (use, options) =>
      executor.inTurn((send) => use((statement) => (log.push(statement), send(statement))), options),
    transaction: (...transaction) => executor.transaction(...transaction),
  };
}

/** Creates the records, each released by its owner. */
async function release(accessor: GroupingStorageAccessor, all: readonly string[]): Promise<void> {
  for (const name of all) {
    assert.ok(await accessor.insertRecord(request(name, 'earlier'), LIMIT));
    assert.ok(await accessor.unlock(request(name, 'earlier'), LIMIT));
  }
}

testGroups(
  '101 locks that are due together need a statement for the first and two for each 50',
  async (bench) => {
    const { accessor, operator, statements } = bench;
    const all = names(101);
    await release(accessor, all);
    statements();
    const grants = await Promise.all(all.map((name) => accessor.updateRecord(request(name), LIMIT)));
    assert.equal(statements().length, 5);
    const rows = await operator.query<{ name: string; locked_by: string; fencing_token: unknown }[]>(
      'SELECT name, locked_by, fencing_token FROM shedlock',
    );
    const tokens = new Map(rows.map((row) => [row.name, Number(row.fencing_token)]));
    for (const [index, name] of all.entries())
      assert.deepEqual(grants[index], { fencingToken: tokens.get(name) }, name);
    for (const row of rows) assert.equal(row.locked_by, `owner of ${row.name}`);
    const released = await Promise.all(all.map((name) => accessor.unlock(request(name), LIMIT)));
    assert.ok(released.every((isReleased) => isReleased));
    // The second one may find a connection, too.
    assert.ok([3, 4].includes(statements().length));
  },
);

testGroups('each lock of a group gets its own answer', async ({ accessor, other }) => {
  await release(accessor, ['free', 'taken', 'twice']);
  assert.ok(await other.updateRecord(request('taken', 'other'), LIMIT));
  const [, free, taken, missing, ...twice] = await Promise.all([
    accessor.updateRecord(request('first'), LIMIT),
    accessor.updateRecord(request('free'), LIMIT),
    accessor.updateRecord(request('taken'), LIMIT),
    accessor.updateRecord(request('missing'), LIMIT),
    accessor.updateRecord(request('twice', 'one'), LIMIT),
    accessor.updateRecord(request('twice', 'two'), LIMIT),
  ]);
  assert.ok(typeof free === 'object' && free.fencingToken !== undefined);
  assert.equal(taken, 'held');
  assert.equal(missing, 'missing');
  assert.equal(twice.filter((answer) => typeof answer === 'object').length, 1);
});

testGroups('an extension or a release of a lost lock fails alone', async ({ accessor }) => {
  const all = names(20);
  await release(accessor, all);
  await Promise.all(all.map((name) => accessor.updateRecord(request(name), LIMIT)));
  const owner = (name: string): string => (name === 'job-7' ? 'nobody' : `owner of ${name}`);
  const next = (name: string) => ({ ...request(name, owner(name)), nextOwner: `${owner(name)}/1` });
  const extended = await Promise.all(all.map((name) => accessor.extend(next(name), LIMIT)));
  assert.deepEqual(
    extended,
    all.map((name) => name !== 'job-7'),
  );
  const releases = await Promise.all(
    all.map((name) => accessor.unlock(request(name, `${owner(name)}/1`), LIMIT)),
  );
  assert.deepEqual(
    releases,
    all.map((name) => name !== 'job-7'),
  );
  // The rows show the owners and their release, but this one did not write it.
  const again = await Promise.all(
    all.map((name) => accessor.unlock(request(name, `${owner(name)}/1`), LIMIT)),
  );
  assert.ok(again.every((isReleased) => !isReleased));
});

testGroups(
  'a row that another session has locked stops its own lock only',
  async ({ accessor, operator }) => {
    const all = names(30);
    await release(accessor, all);
    const provider = new StorageBasedLockProvider(accessor, { statementTimeout: '2s' });
    const session = operator.createQueryRunner();
    await session.startTransaction();
    try {
      await session.query(`SELECT name FROM shedlock WHERE name = 'job-11' FOR UPDATE`);
      const outcomes = await Promise.allSettled(
        all.map(async (name) => await provider.lock({ name, lockAtMostFor: '1m' })),
      );
      for (const [index, outcome] of outcomes.entries())
        if (index === 11) {
          assert.ok(outcome.status === 'rejected' && outcome.reason instanceof LockStorageError);
          assert.match(outcome.reason.message, /lock 'job-11'/);
        } else
          assert.ok(
            outcome.status === 'fulfilled' && outcome.value !== undefined,
            `${all[index]}: ${outcome.status === 'rejected' ? outcome.reason : 'held'}`,
          );
    } finally {
      await session.rollbackTransaction();
      await session.release();
    }
  },
);

testGroups('two instances that want the same locks at once share them without an error', async (bench) => {
  const { accessor, other } = bench;
  const all = names(200);
  await release(accessor, all);
  const backwards = all.toReversed();
  const [mine, theirs] = await Promise.all([
    Promise.all(all.map((name) => accessor.updateRecord(request(name, 'one'), LIMIT))),
    Promise.all(backwards.map((name) => other.updateRecord(request(name, 'two'), LIMIT))),
  ]);
  for (const [index, answer] of mine.entries()) {
    const winners = [answer, theirs[all.length - 1 - index]].filter((each) => typeof each === 'object');
    assert.equal(winners.length, 1, all[index]);
  }
});
