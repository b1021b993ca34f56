import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import * as mysql2 from 'cronlatch/mysql2';
import { RowLockProvider } from 'cronlatch/pg';
import { createConnection } from 'mysql2/promise';
import { JOB, RowLocks } from '../../../support/benches/row-locks';
import { testOn, testOnOwn } from '../../../support/databases/fresh';
import { ownServer } from '../../../support/servers/own';

function isReadOnly(error: unknown): boolean {
  assert.ok(error instanceof LockStorageError);
  assert.equal(error.outcome, 'nothing-ran');
  assert.match(error.message, /is read-only.*Connect to the primary/);
  return true;
}

testOnOwn('mysql', 'a read-only server grants no row lock beside the primary', async () => {
  const server = await ownServer('mysql');
  const root = await createConnection(`${server.url}/mysql`);
  try {
    await root.query('CREATE DATABASE app');
    const url = `${server.url}/app`;
    await mysql2.createTables(url, { tables: ['row-lock'] });
    const provider = new mysql2.RowLockProvider(url);
    assert.equal(await (await provider.lock(JOB))?.unlock(), true);
    await root.query('SET GLOBAL super_read_only = ON');
    await assert.rejects(provider.lock(JOB), isReadOnly);
    await root.query('SET GLOBAL super_read_only = OFF, GLOBAL read_only = OFF');
    assert.ok(await provider.lock(JOB));
    await provider.close();
  } finally {
    root.destroy();
    await server.stop();
  }
});

testOn('postgres', 'a read-only session gets no row lock', async () => {
  const locks = await RowLocks.on('postgres');
  assert.equal(await (await locks.provider().lock(JOB))?.unlock(), true);
  const provider = new RowLockProvider(`${locks.database.url}?options=-c%20default_transaction_read_only=on`);
  await assert.rejects(provider.lock(JOB), isReadOnly);
  await provider.close();
  await locks.dispose();
});
