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

void test('connection settings are copied, and those that would change a result are left out', () => {
  const way = { host: 'db', port: 3307, user: 'u', password: 'p', database: 'd', ssl: { ca: 'x' } };
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
  const options = { ...way, socketPath: undefined, ...changing, ...kept };
  assert.deepEqual(ownMysqlOptions(options, 5000), { ...way, ...OWN, ...kept });
});
