import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownMysqlOptions } from '#cronlatch/storage/mysql2/mysql-server';

const OWN = {
  maxPreparedStatements: 200,
  connectTimeout: 5000,
  charset: 'UTF8MB4_UNICODE_CI',
  supportBigNumbers: true,
  bigNumberStrings: true,
};

void test('connection settings are copied', () => {
  const way = { host: 'db', port: 3307, user: 'u', password: 'p', database: 'd', ssl: { ca: 'x' } };
  assert.deepEqual(ownMysqlOptions({ ...way, socketPath: undefined }, 5000), { ...way, ...OWN });
});

void test('settings that would change a result or the number of connections are left out', () => {
  const changing = {
    connectionLimit: 50,
    typeCast: () => 1,
    rowsAsArray: true,
    multipleStatements: true,
    flags: ['-FOUND_ROWS'],
    timezone: '+02:00',
    ...{ charset: 'latin1_swedish_ci', charsetNumber: 8, jsonStrings: true, stringifyObjects: true },
    ...{ supportBigNumbers: false, bigNumberStrings: false, connectTimeout: 1, resetOnRelease: true },
  };
  const kept = { maxPreparedStatements: 50, enableKeepAlive: true, stream: 'the cloud’s' };
  assert.deepEqual(ownMysqlOptions({ ...changing, ...kept }, 5000), { ...OWN, ...kept });
});
