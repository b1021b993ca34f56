/** Addresses that a driver itself accepts, or that another part of the application uses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError, LockStorageError, type JobGuard } from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import mysql from 'mysql2/promise';
import pg from 'pg';
import { provideGuard } from '#cronlatch/integrations/nestjs/provide-guard';
import { parseUrl } from '#cronlatch/storage/sql/connections/sql-database';
import { DataSource } from 'typeorm';
import { createJobGuard } from 'cronlatch/typeorm';
import { closing } from '../../support/benches/closing';
import { JOB } from '../../support/benches/transaction';
import { databaseOn, testOn } from '../../support/databases/fresh';
import { cronlatch } from '../../cli/cronlatch';

const QUIET = { pollInterval: false, logger: false } as const;

async function runs(guard: JobGuard): Promise<void> {
  try {
    assert.equal((await guard.run({ name: 'job', lockAtMostFor: '1m' }, () => {})).executed, true);
  } finally {
    await guard.close();
  }
}

testOn(
  'mariadb',
  'a run of a guard from mariadb:// can be completed in a transaction of mysql2',
  async () => {
    await using database = closing(await databaseOn('mariadb'));
    const url = database.url.replace(/^\w+:/, 'mariadb:');
    await mysqlDriver.createTables(url);
    await using guard = closing(await mysqlDriver.createJobGuard(url, QUIET));
    await using connection = closing(await mysql.createConnection(url));
    await guard.run(JOB, async () => {
      await connection.beginTransaction();
      await mysqlDriver.completeRunIn(connection);
      await connection.commit();
    });
    assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
  },
);

testOn(
  'mysql',
  'an option that is undefined does not replace a part of the address, as in mysql2',
  async () => {
    await using database = closing(await databaseOn('mysql'));
    const source = { uri: database.url, user: undefined, database: undefined } as { uri: string };
    await mysqlDriver.createTables(source);
    await runs(await mysqlDriver.createJobGuard(source, QUIET));
  },
);

testOn('postgres', 'an address of pg can have its host in a parameter', async () => {
  await using database = closing(await databaseOn('postgres'));
  const { username, password, hostname, port, pathname } = new URL(database.url);
  const user = password === '' ? username : `${username}:${password}`;
  const address = `postgres://${user}@${pathname}?host=${hostname}&port=${port}`;
  await pgDriver.createTables(address);
  await runs(await pgDriver.createJobGuard(address, QUIET));
});

void test('the host of an address can be an IPv6 address, which drivers expect without brackets', () => {
  assert.equal(parseUrl('mysql://app@[2001:db8::1]:3306/app').host, '2001:db8::1');
});

const LISTS = {
  mysql: ['mysql://app@a:1,b:2/app', 'mysql://app:p%2Cw@a,b/app', { host: 'a,b', database: 'app' }],
  postgres: [
    ...['postgres://app@a:1,b:2/app', 'postgres://app:p%2Cw@a,b/app', 'postgres://app@/app?host=a,b'],
    ...[{ host: 'a,b', database: 'app' }, new pg.Pool({ host: 'a,b', database: 'app' })],
  ],
};
const DRIVERS = { mysql: mysqlDriver, postgres: pgDriver };

for (const type of ['mysql', 'postgres'] as const)
  void test(`${type}: a list of hosts is refused, because cronlatch connects to one`, async () => {
    for (const source of LISTS[type]) {
      const ofDriver = DRIVERS[type].createJobGuard(source, QUIET);
      await assert.rejects(ofDriver, isOneHostError);
      if (source instanceof pg.Pool) continue;
      const options = typeof source === 'string' ? { url: source } : source;
      const dataSource = new DataSource({ type, ...options });
      await assert.rejects(createJobGuard(dataSource, QUIET), isOneHostError);
    }
  });

function isOneHostError(error: unknown): boolean {
  return (
    error instanceof InvalidLockConfigurationError &&
    / one host\. Use .* a router or a proxy /.test(error.message)
  );
}

/** Guards with this value in the address, beside it, and in the address of a DataSource. */
function guardsFor(url: string, wanted: string): (() => Promise<JobGuard>)[] {
  const address = new URL(url);
  address.searchParams.set('target_session_attrs', wanted);
  const beside = { connectionString: url, target_session_attrs: wanted };
  return [
    () => pgDriver.createJobGuard(address.href, QUIET),
    () => pgDriver.createJobGuard(beside, QUIET),
    () => createJobGuard(new DataSource({ type: 'postgres', url: address.href }), QUIET),
  ];
}

testOn('postgres', 'target_session_attrs is checked on each new connection', async () => {
  await using database = closing(await databaseOn('postgres'));
  const { url, name, ask } = database;
  await pgDriver.createTables(url);
  for (const wanted of ['any', 'primary', 'read-write'])
    for (const create of guardsFor(url, wanted)) await runs(await create());
  await ask(`ALTER DATABASE "${name}" SET default_transaction_read_only = on`);
  for (const create of guardsFor(url, 'read-write'))
    await assert.rejects(
      create(),
      (error) =>
        error instanceof LockStorageError &&
        error.outcome === 'nothing-ran' &&
        /target_session_attrs is 'read-write', but .*: connect to the primary/.test(error.message),
    );
});

void test('target_session_attrs of a standby is refused, because cronlatch writes', async () => {
  for (const wanted of ['standby', 'prefer-standby', 'read-only', 'toString', ''])
    for (const create of guardsFor('postgres://app@127.0.0.1:1/app', wanted))
      await assert.rejects(create(), (error) => {
        assert.ok(error instanceof InvalidLockConfigurationError, String(error));
        assert.match(
          error.message,
          /target_session_attrs is .*: cronlatch writes, so use 'read-write', 'primary'/,
        );
        assert.ok(error.message.includes(wanted));
        return true;
      });
});

/** Sources whose address has these parameters, as each entry point takes them. */
function sourcesWith(url: string, parameters: string): Record<string, () => Promise<JobGuard>> {
  const address = `${url}?${parameters}`;
  const pool = new pg.Pool({ connectionString: address });
  return {
    address: () => pgDriver.createJobGuard(address, QUIET),
    options: () => pgDriver.createJobGuard({ connectionString: address }, QUIET),
    pool: () => pgDriver.createJobGuard(pool, QUIET),
    module: () => provideGuard({ source: address, ...QUIET }, undefined),
    DataSource: () => createJobGuard(new DataSource({ type: 'postgres', url: address }), QUIET),
  };
}

const SCHEMAS = {
  'schema, as for Prisma': 'schema=staging',
  'currentSchema, as for JDBC': 'connect_timeout=5&currentSchema=staging',
  'the search path': `options=${encodeURIComponent('-c search_path=staging')}`,
};

for (const [what, parameters] of Object.entries(SCHEMAS))
  testOn('postgres', `the tables are in the schema that an address names: ${what}`, async () => {
    await using database = closing(await databaseOn('postgres'));
    const { url, ask } = database;
    await ask('CREATE SCHEMA staging');
    await pgDriver.createTables(url);
    const created = await cronlatch(['init', '--url', `${url}?${parameters}`]);
    assert.equal(created.status, 0, created.stderr);
    assert.deepEqual(await pgDriver.verifySchema(url, { schema: 'staging' }), []);
    await using production = closing(await pgDriver.createJobGuard(url, QUIET));
    await production.run(JOB, () => 'paid in production');
    let states = '';
    for (const [source, create] of Object.entries(sourcesWith(url, parameters))) {
      await using staging = closing(await create());
      await staging.run({ ...JOB, name: source }, () => 'paid in staging');
      states += `${source}: ${String((await staging.ledger.last(JOB.name))?.result)}\n`;
    }
    assert.doesNotMatch(states, /production/);
    const [row] = await ask('SELECT count(*)::int AS runs FROM staging.cronlatch_run');
    assert.equal(row?.['runs'], 5);
  });

void test('two schemas that differ are refused, with both names', async () => {
  const address = 'postgres://app@127.0.0.1:1/app?schema=staging';
  const dataSource = (more = {}) => new DataSource({ type: 'postgres', url: address, ...more });
  const other = { ...QUIET, schema: 'production' };
  const refusals: (() => Promise<unknown>)[] = [
    () => pgDriver.createJobGuard(address, other),
    () => pgDriver.createTables(new pg.Pool({ connectionString: address }), { schema: 'production' }),
    () => provideGuard({ source: address, ...other }, undefined),
    () => createJobGuard(dataSource(), other),
    () => createJobGuard(dataSource({ schema: 'production' }), QUIET),
    () => pgDriver.createJobGuard(`${address}&currentSchema=production`, QUIET),
  ];
  for (const refusal of refusals)
    await assert.rejects(refusal, (error) => {
      assert.ok(error instanceof InvalidLockConfigurationError, String(error));
      assert.match(error.message, /^schema is "production": .* schema 'staging'/);
      return true;
    });
  const { status, stderr } = await cronlatch(['init', '--url', address, '--schema', 'production']);
  assert.notEqual(status, 0);
  assert.match(stderr, /schema is "production": .* schema 'staging'/);
});

void test('a table can name its own schema, and two equal schemas are accepted', async () => {
  const address = 'postgres://app@127.0.0.1:1/app?schema=staging&currentSchema=staging';
  const lazy = { ...QUIET, lazy: true };
  for (const options of [{ schema: 'staging' }, { lockTable: 'locks.shedlock' }])
    await (await pgDriver.createJobGuard(address, { ...lazy, ...options })).close();
  await assert.rejects(pgDriver.createJobGuard('postgres://a@b/c?schema=my-app', lazy), /schema is "my-app"/);
});
