/** Locks that wait for a connection travel together, and each gets the answer that it would get alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, LockStorageError } from 'cronlatch';
import { SqlLockProvider } from '#cronlatch/storage/sql/database/sql-lock-provider';
import { driverPlace } from '../../support/driver-place';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { LIMIT, namesOf, releaseAll, requestOf, testGroups } from '../../support/grouping-bench';

testGroups(
  '101 locks that are due together and free need a statement for the first and one for each 50',
  async (bench) => {
    const { accessor, operator, statements } = bench;
    const all = namesOf(101);
    await releaseAll(accessor, all);
    statements();
    const grants = await Promise.all(all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)));
    assert.equal(statements().length, 3);
    const rows = await operator.query<{ name: string; locked_by: string; fencing_token: unknown }[]>(
      'SELECT name, locked_by, fencing_token FROM shedlock',
    );
    const tokens = new Map(rows.map((row) => [row.name, Number(row.fencing_token)]));
    for (const [index, name] of all.entries())
      assert.deepEqual(grants[index], { fencingToken: tokens.get(name) }, name);
    for (const row of rows) assert.equal(row.locked_by, `owner of ${row.name}`);
    const released = await Promise.all(all.map((name) => accessor.unlock(requestOf(name), LIMIT)));
    assert.ok(released.every((isReleased) => isReleased));
    // The second one may find a connection, too.
    assert.ok([3, 4].includes(statements().length));
  },
);

testGroups('101 renewals that are due together need one statement for each 50', async (bench) => {
  const { accessor, statements } = bench;
  const all = namesOf(101);
  await releaseAll(accessor, all);
  await Promise.all(all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)));
  statements();
  const next = (name: string) => ({ ...requestOf(name), nextOwner: `owner of ${name}/1` });
  const extended = await Promise.all(all.map((name) => accessor.extend(next(name), LIMIT)));
  assert.ok(extended.every((isExtended) => isExtended));
  // The first one travels alone, and the second one may find a connection, too.
  assert.ok([3, 4].includes(statements().length));
});

testGroups('after locks that were due together, the next ones all travel together', async (bench) => {
  const { accessor, statements } = bench;
  const all = namesOf(30);
  await releaseAll(accessor, all);
  const acquire = () => Promise.all(all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)));
  const release = () => Promise.all(all.map((name) => accessor.unlock(requestOf(name), LIMIT)));
  await acquire();
  await release();
  statements();
  await acquire();
  assert.equal(statements().length, 1, 'the answer to the statement holds the tokens');
  await release();
  assert.equal(statements().length, 1);
  const [single = ''] = all;
  await accessor.updateRecord(requestOf(single), LIMIT);
  await accessor.unlock(requestOf(single), LIMIT);
  assert.equal(statements().length, 2, 'a single lock costs what it always costs');
});

testGroups('each lock of a group gets its own answer', async ({ accessor, others: [other] }) => {
  await releaseAll(accessor, ['free', 'taken', 'twice']);
  assert.ok(await other.updateRecord(requestOf('taken', 'other'), LIMIT));
  const [, free, taken, missing, ...twice] = await Promise.all([
    accessor.updateRecord(requestOf('first'), LIMIT),
    accessor.updateRecord(requestOf('free'), LIMIT),
    accessor.updateRecord(requestOf('taken'), LIMIT),
    accessor.updateRecord(requestOf('missing'), LIMIT),
    accessor.updateRecord(requestOf('twice', 'one'), LIMIT),
    accessor.updateRecord(requestOf('twice', 'two'), LIMIT),
  ]);
  assert.ok(typeof free === 'object' && 'fencingToken' in free && free.fencingToken !== undefined);
  assert.ok(typeof taken === 'object' && 'heldBy' in taken);
  assert.equal(taken.heldBy.lockedBy, 'other');
  assert.equal(missing, 'missing');
  assert.equal(twice.filter((answer) => typeof answer === 'object' && 'fencingToken' in answer).length, 1);
});

testGroups('a group that is not free as a whole reads whose each lock is', async (bench) => {
  const {
    accessor,
    others: [other],
    statements,
  } = bench;
  const all = namesOf(20);
  await releaseAll(accessor, all);
  assert.ok(await other.updateRecord(requestOf('job-7', 'other'), LIMIT));
  statements();
  await Promise.all(all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)));
  assert.equal(statements().length, 3, 'the first one, the group, and one that reads');
});

testGroups('a token that is ahead of the clock rises by one, in a group too', async (bench) => {
  const { accessor, operator } = bench;
  const all = namesOf(20);
  await releaseAll(accessor, all);
  const ahead = (Date.now() + 86_400_000) * 1000;
  await operator.query(`UPDATE shedlock SET fencing_token = ${ahead} WHERE name IN ('job-7', 'job-8')`);
  const grants = await Promise.all(all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)));
  for (const [index, grant] of grants.entries()) {
    assert.ok(typeof grant === 'object' && 'fencingToken' in grant);
    const token = Number(grant.fencingToken);
    if (index === 7 || index === 8) assert.equal(token, ahead + 1);
    else assert.ok(token < ahead);
  }
});

testGroups('an extension or a release of a lost lock fails alone', async ({ accessor }) => {
  const all = namesOf(20);
  await releaseAll(accessor, all);
  await Promise.all(all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)));
  const owner = (name: string): string => (name === 'job-7' ? 'nobody' : `owner of ${name}`);
  const next = (name: string) => ({ ...requestOf(name, owner(name)), nextOwner: `${owner(name)}/1` });
  const extended = await Promise.all(all.map((name) => accessor.extend(next(name), LIMIT)));
  assert.deepEqual(
    extended,
    all.map((name) => name !== 'job-7'),
  );
  const releases = await Promise.all(
    all.map((name) => accessor.unlock(requestOf(name, `${owner(name)}/1`), LIMIT)),
  );
  assert.deepEqual(
    releases,
    all.map((name) => name !== 'job-7'),
  );
  // The rows show the owners and their release, but this one did not write it.
  const again = await Promise.all(
    all.map((name) => accessor.unlock(requestOf(name, `${owner(name)}/1`), LIMIT)),
  );
  assert.ok(again.every((isReleased) => !isReleased));
});

testGroups(
  'a row that another session has locked stops its own lock only',
  async ({ accessor, operator }) => {
    const all = namesOf(30);
    await releaseAll(accessor, all);
    // Longer than the server waits for the row, however busy the machine is.
    const provider = new StorageBasedLockProvider(accessor, { statementTimeout: '60s' });
    const session = operator.createQueryRunner();
    await session.startTransaction();
    try {
      await session.query(`SELECT name FROM shedlock WHERE name = 'job-11' FOR UPDATE`);
      const outcomes = await Promise.allSettled(
        all.map(async (name) => await provider.lock({ name, lockAtMostFor: '10m' })),
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

/** What can come between the two: a locked row, an ALTER TABLE, the end of the connection. */
const BETWEEN = {
  'waits too long': Object.assign(new Error('Lock wait timeout exceeded'), { errno: 1205, code: '55P03' }),
  'finds its connection closed (mysql2)': new Error(
    "Can't add new command when connection is in closed state",
  ),
  'finds its connection closed (pg)': new Error(
    'Client has encountered a connection error and is not queryable',
  ),
};

for (const [fails, error] of Object.entries(BETWEEN))
  testGroups(`if the read behind the write of a group ${fails}, the outcome is unknown`, async (bench) => {
    const {
      accessor,
      others: [other],
      failOn,
    } = bench;
    const all = namesOf(20);
    await releaseAll(accessor, all);
    assert.ok(await other.updateRecord(requestOf('job-7', 'other'), LIMIT)); // So the answer does not show who holds what.
    failOn('SELECT', error);
    const outcomes = await Promise.allSettled(
      all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)),
    );
    const failed = outcomes.flatMap((outcome) =>
      outcome.status === 'rejected' ? [outcome.reason as unknown] : [],
    );
    assert.equal(failed.length, all.length - 1, 'all but the first, which travelled alone');
    for (const each of failed)
      assert.ok(each instanceof LockStorageError && each.outcome === 'unknown', String(each));
  });

testGroups(
  'if the read of the token behind an insert fails, the outcome is unknown',
  async ({ accessor, operator, failOn }) => {
    // MySQL then answers with the number of the audit.
    await operator.query('CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY)');
    await operator.query(
      'CREATE TRIGGER audited AFTER INSERT ON shedlock FOR EACH ROW INSERT INTO audit () VALUES ()',
    );
    failOn('SELECT', BETWEEN['finds its connection closed (mysql2)']);
    await assert.rejects(accessor.insertRecord(requestOf('job'), LIMIT), { outcome: 'unknown' });
    assert.equal((await operator.query<unknown[]>('SELECT name FROM shedlock')).length, 1);
  },
  { servers: ['mysql', 'mariadb'] },
);

testGroups('two instances that want the same locks at once share them without an error', async (bench) => {
  const {
    accessor,
    others: [other],
  } = bench;
  const all = namesOf(200);
  await releaseAll(accessor, all);
  const backwards = all.toReversed();
  const [mine, theirs] = await Promise.all([
    Promise.all(all.map((name) => accessor.updateRecord(requestOf(name, 'one'), LIMIT))),
    Promise.all(backwards.map((name) => other.updateRecord(requestOf(name, 'two'), LIMIT))),
  ]);
  for (const [index, answer] of mine.entries()) {
    const winners = [answer, theirs[all.length - 1 - index]].filter(
      (each) => typeof each === 'object' && 'fencingToken' in each,
    );
    assert.equal(winners.length, 1, all[index]);
  }
});

void test('grouping is true or false', () => {
  const { database } = driverPlace('mysql2', 'own', 'mysql://nowhere/app');
  assert.throws(() => new SqlLockProvider(database, { grouping: 'yes' as unknown as boolean }), {
    code: InvalidLockConfigurationError.code,
    message: 'grouping is "yes": use true or false.',
  });
});
