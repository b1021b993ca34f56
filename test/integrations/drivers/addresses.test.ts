/** Addresses that a driver itself accepts, or that another part of the application uses. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JobGuard } from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import mysql from 'mysql2/promise';
import { parseUrl } from '#cronlatch/storage/sql/database/sql-database';
import { databaseOn, testOn } from '../../support/databases';
import { JOB } from '../../support/transaction-bench';

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
    const database = await databaseOn('mariadb');
    const url = database.url.replace(/^\w+:/, 'mariadb:');
    await mysqlDriver.createTables(url);
    const guard = await mysqlDriver.createJobGuard(url, QUIET);
    const connection = await mysql.createConnection(url);
    try {
      await guard.run(JOB, async () => {
        await connection.beginTransaction();
        await mysqlDriver.completeRunIn(connection);
        await connection.commit();
      });
      assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
    } finally {
      await connection.end();
      await guard.close();
      await database.dispose();
    }
  },
);

testOn(
  'mysql',
  'an option that is undefined does not replace a part of the address, as in mysql2',
  async () => {
    const database = await databaseOn('mysql');
    const source = { uri: database.url, user: undefined, database: undefined } as { uri: string };
    await mysqlDriver.createTables(source);
    await runs(await mysqlDriver.createJobGuard(source, QUIET));
    await database.dispose();
  },
);

testOn('postgres', 'an address of pg can have its host in a parameter', async () => {
  const database = await databaseOn('postgres');
  const { username, password, hostname, port, pathname } = new URL(database.url);
  const user = password === '' ? username : `${username}:${password}`;
  const address = `postgres://${user}@${pathname}?host=${hostname}&port=${port}`;
  await pgDriver.createTables(address);
  await runs(await pgDriver.createJobGuard(address, QUIET));
  await database.dispose();
});

void test('the host of an address can be an IPv6 address, which drivers expect without brackets', () => {
  assert.equal(parseUrl('mysql://app@[2001:db8::1]:3306/app').host, '2001:db8::1');
});
