import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DataSource } from 'typeorm';
import { LockStorageError, SchemaMismatchError, type LockConfiguration } from 'cronlatch';
import { createCronlatchMigration, createJobGuard } from 'cronlatch/typeorm';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { testOnDatabases } from '../../support/benches/database';
import { testOnServer } from '../../support/benches/server';
import { mysqlDatabase, testOn, testOnEvery } from '../../support/databases/fresh';
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

testOnServer(
  'mysql',
  'with lazy: true it starts while the database is down, every tick fails, and it works later without a restart',
  async (bench) => {
    const { url } = bench.database;
    const proxy = bench.closeAtEnd(await tcpProxy(targetOf(url)));
    await proxy.close();
    const options = { lazy: true, statementTimeout: '1s' } as const;
    const guard = await bench.openGuard(options, bench.dataSource({ url: throughProxy(url, proxy) }));
    const failures: unknown[] = [];
    guard.on('lock:failed', ({ error }) => void failures.push(error));
    const tick = guard.wrap(JOB, () => 'ran');
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

testOnDatabases(
  'after a table is dropped every tick is an error until the table exists again (F-63)',
  async (bench) => {
    const guard = await bench.openGuard();
    await bench.application.query('ALTER TABLE shedlock RENAME TO away');
    await assert.rejects(
      guard.run(JOB, () => assert.fail('ran')),
      SchemaMismatchError,
    );
    await bench.application.query('ALTER TABLE away RENAME TO shedlock');
    assert.equal((await guard.run(JOB, () => {})).executed, true);
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

void test('an invalid name of the table or of a column is rejected, and so are two columns with one name', async () => {
  const dataSource = new DataSource({ type: 'better-sqlite3', database: ':memory:' });
  await assert.rejects(createJobGuard(dataSource, { lockTable: 'a;b' }), {
    code: 'CRONLATCH_INVALID_CONFIGURATION',
    message: /lockTable/,
  });
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
