import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataSource } from 'typeorm';
import { LockStorageError, SchemaMismatchError, type LockConfiguration } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { mysqlDatabase, testOn, testOnEvery } from '../../support/databases/fresh';
import { migratedDataSource } from '../../support/databases/lock-table';
import { targetOf, tcpProxy, throughProxy } from '../../support/faults/tcp-proxy';

const JOB: LockConfiguration = { name: 'job', lockAtMostFor: '1m' };

testOn(
  'mysql',
  'if the database is down at the start, the error has its address, without the password',
  async () => {
    const database = await mysqlDatabase();
    const proxy = await tcpProxy(targetOf(database.url));
    await proxy.close();
    for (const [options, address] of [
      [
        { host: '127.0.0.1', port: proxy.port, username: 'root', password: 'hunter2', database: 'app' },
        `127.0.0.1:${proxy.port}`,
      ],
      [{ url: `mysql://root:hunter2@127.0.0.1:${proxy.port}/app` }, `127.0.0.1:${proxy.port}`],
      [{ socketPath: '/nowhere/mysqld.sock', username: 'root', password: 'hunter2' }, '/nowhere/mysqld.sock'],
    ] as const) {
      const error: unknown = await createJobGuard(new DataSource({ type: 'mysql', ...options })).catch(
        (reason: unknown) => reason,
      );
      assert.ok(error instanceof LockStorageError);
      assert.match(error.message, new RegExp(`MySQL at ${address}: .*(ECONNREFUSED|ENOENT)`));
      assert.doesNotMatch(
        `${String(error)} ${JSON.stringify(error)} ${String(error.cause)} ${error.stack}`,
        /hunter2/,
      );
    }
    await database.dispose();
  },
);

testOn('mysql', 'a wrong password is reported, without the password', async () => {
  const database = await mysqlDatabase();
  const url = new URL(database.url);
  [url.username, url.password] = ['nobody', 'hunter2'];
  await assert.rejects(createJobGuard(new DataSource({ type: 'mysql', url: url.href })), (error) => {
    return (
      error instanceof LockStorageError &&
      /Access denied/.test(error.message) &&
      !error.message.includes('hunter2')
    );
  });
  await database.dispose();
});

testOn(
  'mysql',
  'with lazy: true it starts while the database is down, every tick fails, and it works later without a restart',
  async () => {
    const database = await mysqlDatabase();
    const dataSource = await migratedDataSource(database);
    const proxy = await tcpProxy(targetOf(database.url));
    await proxy.close();
    const guard = await createJobGuard(
      new DataSource({ type: 'mysql', url: throughProxy(database.url, proxy) }),
      { lazy: true, logger: false, statementTimeout: '1s' },
    );
    const failures: unknown[] = [];
    guard.on('lock:failed', ({ error }) => void failures.push(error));
    const tick = guard.wrap(JOB, () => 'ran');
    try {
      for (let down = 1; down <= 3; down += 1) {
        assert.equal(await tick(), undefined);
        assert.equal(failures.length, down);
      }
      assert.ok(
        failures.every((error) => error instanceof LockStorageError && error.outcome === 'nothing-ran'),
      );
      await proxy.open();
      assert.equal(await tick(), 'ran');
      await proxy.close();
      assert.equal(await tick(), undefined);
      await proxy.open();
      assert.equal(await tick(), 'ran');
      assert.equal(failures.length, 4);
    } finally {
      await guard.close();
      await proxy.close();
      await dataSource.destroy();
      await database.dispose();
    }
  },
);

testOnEvery(
  'a missing table is reported at the start, with the one command that creates it (F-63)',
  async (database) => {
    const dataSource = await new DataSource(database.options).initialize();
    for (const [options, remedy] of [
      [{}, 'npx cronlatch init'],
      [{ lockTable: 'locks' }, 'npx cronlatch init --lock-table locks'],
      [
        { lockTable: 'locks', nameLength: 200 },
        "createTables(source, { tables: ['lock'], lockTable: 'locks', nameLength: 200 })",
      ],
    ] as const)
      await assert.rejects(createJobGuard(dataSource, options), (error) => {
        assert.ok(error instanceof SchemaMismatchError);
        const [, where = '', text] =
          /^Table '\w+' in (.*) is missing, or this .* to it\. (.*)$/.exec(error.message) ?? [];
        assert.match(where, /^(SQLite|MySQL at|MariaDB at|PostgreSQL at) /);
        assert.equal(text, `Create it with ${remedy}.`);
        return true;
      });
    await dataSource.destroy();
  },
);

testOnEvery('a missing column is reported at the start, with its name', async (database) => {
  const dataSource = await migratedDataSource(database);
  await dataSource.query('ALTER TABLE shedlock DROP COLUMN locked_by');
  await assert.rejects(
    createJobGuard(dataSource),
    (error) =>
      error instanceof SchemaMismatchError &&
      /has no column 'locked_by'\. Recreate the table/.test(error.message),
  );
  await dataSource.destroy();
});

testOnEvery(
  'after a table is dropped every tick is an error until the table exists again (F-63)',
  async (database) => {
    const dataSource = await migratedDataSource(database);
    const guard = await createJobGuard(dataSource);
    await dataSource.query('ALTER TABLE shedlock RENAME TO away');
    await assert.rejects(
      guard.run(JOB, () => assert.fail('ran')),
      SchemaMismatchError,
    );
    await dataSource.query('ALTER TABLE away RENAME TO shedlock');
    assert.equal((await guard.run(JOB, () => {})).executed, true);
    await guard.close();
    await dataSource.destroy();
  },
);

testOnEvery('a table and columns with other names are created and used', async (database) => {
  const columns = {
    name: 'n',
    lockUntil: 'until$',
    lockedAt: 'at',
    lockedBy: 'order',
    fencingToken: 'token',
  };
  const { createCronlatchMigration } = await import('cronlatch/typeorm');
  const migrations = [
    createCronlatchMigration({ tables: ['lock'], lockTable: 'my_locks', columns, nameLength: 200 }),
  ];
  const dataSource = new DataSource({ ...database.options, migrations });
  await dataSource.initialize();
  await dataSource.runMigrations();
  const guard = await createJobGuard(dataSource, { lockTable: 'my_locks', columns, nameLength: 200 });
  const name = '😀'.repeat(200);
  assert.equal((await guard.run({ name, lockAtMostFor: '1m', nameLength: 200 }, () => {})).executed, true);
  const locks = `SELECT n FROM my_locks WHERE n <> 'cronlatch-place'`;
  assert.deepEqual(await dataSource.query(locks), [{ n: name }]);
  await guard.close();
  await dataSource.query('DELETE FROM my_locks'); // A table that holds rows would stay.
  await dataSource.undoLastMigration();
  await assert.rejects(dataSource.query(locks));
  await dataSource.destroy();
});

void test('a database that cannot hold locks is rejected, with a list of those that can', async () => {
  for (const type of ['mongodb', 'spanner', 'cockroachdb', 'aurora-mysql'] as const) {
    const dataSource = Object.assign(Object.create(DataSource.prototype) as DataSource, {
      options: { type },
    });
    await assert.rejects(createJobGuard(dataSource), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message: `A DataSource of type '${type}' is not supported. Use one of type mysql, mariadb, postgres, better-sqlite3.`,
    });
  }
});

for (const lockTable of [
  '',
  'a b',
  'a;b',
  'a.b.c',
  '1a',
  'a`b',
  'a"b',
  'ä',
  'x'.repeat(64),
  '.a',
  'a.',
  'a--',
]) {
  void test(`lock table '${lockTable}' is invalid, and is rejected before any statement is sent`, async () => {
    const options = { type: 'better-sqlite3', database: ':memory:' } as const;
    await assert.rejects(createJobGuard(new DataSource(options), { lockTable }), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message: /lockTable/,
    });
  });
}

void test('two columns with one name, and a column with an invalid name, are rejected', async () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  await assert.rejects(
    createJobGuard(dataSource, { columns: { lockedBy: 'locked_at' } }),
    /each column needs a different name/,
  );
  await assert.rejects(
    createJobGuard(dataSource, { columns: { lockedBy: 'by; --' } }),
    /columns.lockedBy is "by; --"/,
  );
});

void test('with its own lock provider, the guard sends no statements to the database and closes nothing', async () => {
  const lockProvider = new InMemoryLockProvider();
  const guard = await createJobGuard(new DataSource({ type: 'mysql', host: 'nowhere.invalid' }), {
    lockProvider,
  });
  assert.equal((await guard.run(JOB, () => {})).executed, true);
  await guard.close();
  assert.ok(await lockProvider.lock(JOB));
});
