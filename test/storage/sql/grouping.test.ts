// More of this subject: storage/sql/grouping-reads.test.ts, storage/sql/plans.test.ts, faults/storage/sql/grouping.test.ts
/** Locks that wait for a connection travel together, and each gets the answer that it would get alone. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, LockStorageError } from 'cronlatch';
import { SqlLockProvider } from '#cronlatch/storage/sql/database/sql-lock-provider';
import { driverDatabase } from '../../support/stores/driver-database';
import { StorageBasedLockProvider } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { eventually } from '../../support/clocks/eventually';
import { signal } from '../../support/benches/executor';
import { turn } from '../../support/benches/lock';
import { lockRows } from '../../support/databases/lock-table';
import { LIMIT, namesOf, releaseAll, requestOf, testGroups } from '../../support/benches/grouping';

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
      `SELECT name, locked_by, fencing_token FROM shedlock WHERE name <> 'cronlatch-place'`,
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
  assert.ok(typeof missing === 'object' && 'fencingToken' in missing, 'its row is inserted');
  assert.equal(twice.filter((answer) => typeof answer === 'object' && 'fencingToken' in answer).length, 1);
});

testGroups('a group that is not free as a whole reads whose each lock is', async (bench) => {
  const { accessor, statements, server } = bench;
  const all = namesOf(20);
  await releaseAll(accessor, all);
  assert.ok(await bench.others[0].updateRecord(requestOf('job-7', 'other'), LIMIT));
  statements();
  await Promise.all(all.map((name) => accessor.updateRecord(requestOf(name), LIMIT)));
  const [, ...ofGroup] = statements();
  assert.equal(
    ofGroup.length,
    server === 'postgres' ? 1 : 2,
    'the group, and where it is needed one that reads',
  );
  // A proxy sends other statements to a replica, which may lag behind.
  assert.match(ofGroup.at(-1)?.text ?? '', /FOR UPDATE( OF here)?$/);
});

testGroups('101 new locks that are due together are inserted in groups', async (bench) => {
  const { accessor, statements } = bench;
  const provider = new StorageBasedLockProvider(accessor, { statementTimeout: '60s' });
  const all = namesOf(101);
  statements();
  const locks = await Promise.all(all.map((name) => provider.lock({ name, lockAtMostFor: '10m' })));
  for (const [index, lock] of locks.entries()) assert.ok(lock?.fencingToken !== undefined, all[index]);
  const { length } = statements().filter(({ values }) => !values.includes('cronlatch-place'));
  // One by one there would be 202. A group needs up to four: take over, read, insert, take over.
  assert.ok(length <= 2 + 3 * 4, `${length} statements`);
});

/** What the requests for the other locks returned, and the error of the only one that fails. */
async function onlyFails<T>(culprit: string, names: readonly string[], requests: readonly Promise<T>[]) {
  const outcomes = await Promise.allSettled(requests);
  const granted = outcomes.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
  const errors = outcomes.flatMap((each) => (each.status === 'rejected' ? [each.reason as unknown] : []));
  const failed = names.filter((_, index) => outcomes[index]?.status === 'rejected');
  assert.deepEqual(failed, [culprit], errors.join('\n'));
  const [error] = errors;
  assert.ok(error instanceof LockStorageError);
  assert.ok(error.message.includes(`lock '${culprit}'`), error.message);
  return { granted, error };
}

testGroups('a lock that the database refuses fails alone, and the rest of its group run', async (bench) => {
  const { accessor, operator, statements, server } = bench;
  const all = namesOf(40);
  await releaseAll(accessor, all);
  for (const text of REFUSES_JOB_7[server === 'postgres' ? 'postgres' : 'mysql']) await operator.query(text);
  const owners = (tick: number) => all.map((name) => requestOf(name, `${tick} of ${name}`));
  for (const tick of [1, 2]) {
    statements();
    const sent = owners(tick).map((request) => accessor.updateRecord(request, LIMIT));
    const { granted, error } = await onlyFails('job-7', all, sent);
    assert.equal(error.outcome, 'nothing-ran');
    for (const grant of granted) assert.ok(typeof grant === 'object' && 'fencingToken' in grant);
    // The group is halved until the culprit is alone: 39, 20, 10, 5, 3, 2, 1 and their other halves.
    const writes = statements().filter(({ text }) => !text.trimStart().startsWith('SELECT'));
    assert.ok(writes.length <= 15, `${writes.length} statements`);
    for (const request of owners(tick)) if (request.name !== 'job-7') await accessor.unlock(request, LIMIT);
  }
});

const clock = new SettableClock();

testGroups(
  'a lock waits for a connection for as long as it may, while one beside it gives up',
  async ({ accessor, connections }) => {
    await releaseAll(accessor, ['patient', 'impatient']);
    const held = signal();
    let entered = 0;
    const use = (): Promise<void> => ((entered += 1), held.promise);
    // One connection for any statement, and four more while statements wait.
    const turns = Array.from({ length: 5 }, () => connections.run(use, { timeoutMs: 60_000 }));
    for (let expected = 1; expected <= turns.length; expected += 1) {
      await eventually(() => entered === expected, `${expected} connections are used`);
      clock.advance(200);
    }
    let sent = 0;
    const onSending = (): void => void (sent += 1);
    const patient = accessor.updateRecord(requestOf('patient'), {
      ...LIMIT,
      connectionWaitMs: 30_000,
      onSending,
    });
    const impatient = accessor.updateRecord(requestOf('impatient'), { ...LIMIT, onSending });
    impatient.catch(() => {}); // Awaited below.
    await turn();
    clock.advance('4s');
    await assert.rejects(impatient, /no connection was free within 3750 ms/);
    clock.advance('20s');
    assert.equal(sent, 0);
    held.resolve();
    const grant = await patient;
    assert.ok(typeof grant === 'object' && 'fencingToken' in grant);
    assert.equal(sent, 1);
    await Promise.all(turns);
  },
  { clock },
);

testGroups(
  'a new name that the column cannot store fails alone',
  async ({ accessor, operator }) => {
    await operator.query(
      'ALTER TABLE shedlock MODIFY name VARCHAR(64) CHARACTER SET latin1 COLLATE latin1_bin NOT NULL',
    );
    await accessor.tables.check(LIMIT);
    const provider = new StorageBasedLockProvider(accessor, { statementTimeout: '60s' });
    const all = [...namesOf(20), 'баланс'];
    const asked = all.map((name) => provider.lock({ name, lockAtMostFor: '10m' }));
    const { granted } = await onlyFails('баланс', all, asked);
    assert.ok(granted.every((lock) => lock !== undefined));
  },
  { servers: ['mysql', 'mariadb'] },
);

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
      const asked = all.map((name) => provider.lock({ name, lockAtMostFor: '10m' }));
      const { granted } = await onlyFails('job-11', all, asked);
      assert.ok(granted.every((lock) => lock !== undefined));
    } finally {
      await session.rollbackTransaction();
      await session.release();
    }
  },
);

/** A trigger that raises an error. */
const REFUSES_JOB_7 = {
  mysql: [
    `CREATE TRIGGER refuses BEFORE UPDATE ON shedlock FOR EACH ROW
      IF NEW.name = 'job-7' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'refused'; END IF`,
  ],
  postgres: [
    `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'refused'; END $$`,
    `CREATE TRIGGER refuses BEFORE UPDATE ON shedlock FOR EACH ROW WHEN (NEW.name = 'job-7') EXECUTE FUNCTION refuse()`,
  ],
};

/** What can come between the two: a locked row, an ALTER TABLE, the end of the connection. */
const BETWEEN = {
  'waits too long': Object.assign(new Error('Lock wait timeout exceeded'), { errno: 1205 }),
  'finds its connection closed': new Error("Can't add new command when connection is in closed state"),
};

for (const [fails, error] of Object.entries(BETWEEN))
  testGroups(
    `if the read behind the write of a group ${fails}, the outcome is unknown`,
    async (bench) => {
      const { accessor, failOn } = bench;
      const all = namesOf(20);
      await releaseAll(accessor, all);
      assert.ok(await bench.others[0].updateRecord(requestOf('job-7', 'other'), LIMIT)); // So the answer does not show who holds what.
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
    },
    { servers: ['mysql', 'mariadb'] },
  );

testGroups(
  'if the read of the token behind an insert fails, the outcome is unknown',
  async ({ accessor, operator, failOn }) => {
    // MySQL then answers with the number of the audit.
    await operator.query('CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY)');
    await operator.query(
      'CREATE TRIGGER audited AFTER INSERT ON shedlock FOR EACH ROW INSERT INTO audit () VALUES ()',
    );
    failOn('SELECT', BETWEEN['finds its connection closed']);
    await assert.rejects(accessor.insertRecord(requestOf('job'), LIMIT), { outcome: 'unknown' });
    assert.equal(
      (await operator.query<unknown[]>(`SELECT name FROM shedlock WHERE name <> 'cronlatch-place'`)).length,
      1,
    );
  },
  { servers: ['mysql', 'mariadb'] },
);

for (const which of ['the same', 'the same new'])
  testGroups(`two instances that want ${which} locks at once share them without an error`, async (bench) => {
    const { accessor, operator } = bench;
    const all = namesOf(200);
    if (which === 'the same') await releaseAll(accessor, all);
    const acquire = (each: typeof accessor, names: readonly string[]) => {
      const provider = new StorageBasedLockProvider(each, { statementTimeout: '60s' });
      return Promise.all(names.map((name) => provider.lock({ name, lockAtMostFor: '10m' })));
    };
    const [mine, theirs] = await Promise.all([
      acquire(accessor, all),
      acquire(bench.others[0], all.toReversed()),
    ]);
    for (const [index, lock] of mine.entries()) {
      const other = theirs[all.length - 1 - index];
      assert.equal([lock, other].filter((each) => each !== undefined).length, 1, all[index]);
    }
    assert.equal((await lockRows(operator)).length, all.length);
  });

void test('an invalid value of grouping or connections is refused', () => {
  const database = driverDatabase('mysql2', 'mysql://nowhere/app');
  const refused = (options: object, message: string): void =>
    assert.throws(() => new SqlLockProvider(database, options), {
      code: InvalidLockConfigurationError.code,
      message,
    });
  refused({ grouping: 'yes' }, 'grouping is "yes": use true or false.');
  for (const connections of ['pool', 'shared', 1, 2.5, Infinity]) {
    const shown = typeof connections === 'string' ? `"${connections}"` : connections;
    refused({ connections }, `connections is ${shown}: use 'own', or a whole number of at least 2.`);
  }
});
