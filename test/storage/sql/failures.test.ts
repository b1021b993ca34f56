import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { driverErrorOf, HARMLESS, type SqlFailureKind } from '#cronlatch/storage/sql/statements/sql-failure';

const MYSQL: [object, SqlFailureKind][] = [
  [{ errno: 1062, code: 'ER_DUP_ENTRY' }, 'duplicate'],
  ...[1213, 1205, 3572, 1020, 3101].map((errno): [object, SqlFailureKind] => [{ errno }, 'contention']),
  ...[1053, 1105, 1180, 1317, 1927, 2006, 2013, 8501].map((errno): [object, SqlFailureKind] => [
    { errno },
    'unknown',
  ]),
  ...[1290, 1836, 1792].map((errno): [object, SqlFailureKind] => [{ errno }, 'not-the-primary']),
  [{ errno: 1146 }, 'missing-table'],
  [{ errno: 1049 }, 'missing-table'],
  ...[1054, 1176, 1406, 1364].map((errno): [object, SqlFailureKind] => [{ errno }, 'wrong-shape']),
  ...[1040, 1045, 1142, 1064].map((errno): [object, SqlFailureKind] => [{ errno }, 'refused']),
  ...['ECONNREFUSED', 'ENOTFOUND'].map((code): [object, SqlFailureKind] => [
    { errno: -111, code },
    'refused',
  ]),
  ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT'].map(
    (code): [object, SqlFailureKind] => [{ errno: -104, code }, 'unknown'],
  ),
  [{ message: `Can't add new command when connection is in closed state` }, 'refused'],
  [{ message: 'something new' }, 'unknown'],
];

void test('MySQL: an error without a known outcome counts as unknown', () => {
  for (const [error, kind] of MYSQL)
    assert.equal(mysql.failureOf(driverErrorOf(error)), kind, JSON.stringify(error));
});

const POSTGRES: [string, SqlFailureKind][] = [
  ['23505', 'duplicate'],
  ...['40001', '40P01', '55P03', '57014'].map((code): [string, SqlFailureKind] => [code, 'contention']),
  ...['40003', '57P01', '57P02', '57P04', '57P05', '08000', '08006', '08007'].map(
    (code): [string, SqlFailureKind] => [code, 'unknown'],
  ),
  ...['ECONNRESET', 'EPIPE', 'ETIMEDOUT'].map((code): [string, SqlFailureKind] => [code, 'unknown']),
  ['25006', 'not-the-primary'],
  ...['42P01', '3F000'].map((code): [string, SqlFailureKind] => [code, 'missing-table']),
  ...['42703', '22001', '23502', '42P10'].map((code): [string, SqlFailureKind] => [code, 'wrong-shape']),
  ...['53300', '28P01', '42501', '42601', '25P02'].map((code): [string, SqlFailureKind] => [code, 'refused']),
  ...['ECONNREFUSED', 'ENOTFOUND'].map((code): [string, SqlFailureKind] => [code, 'refused']),
];

void test('PostgreSQL: an error without a known outcome counts as unknown', () => {
  for (const [code, kind] of POSTGRES) assert.equal(postgres.failureOf(driverErrorOf({ code })), kind, code);
  const ended = { message: 'Client has encountered a connection error and is not queryable' };
  assert.equal(postgres.failureOf(driverErrorOf(ended)), 'refused');
  assert.equal(postgres.failureOf(driverErrorOf({ message: 'something new' })), 'unknown');
});

const SQLITE: [object, SqlFailureKind][] = [
  ...['SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_LOCKED', 'SQLITE_LOCKED_SHAREDCACHE'].map(
    (code): [object, SqlFailureKind] => [{ code }, 'contention'],
  ),
  ...['SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'].map((code): [object, SqlFailureKind] => [
    { code },
    'duplicate',
  ]),
  [{ code: 'SQLITE_READONLY' }, 'not-the-primary'],
  [{ code: 'SQLITE_ERROR', message: 'no such table: shedlock' }, 'missing-table'],
  [{ code: 'SQLITE_ERROR', message: 'no such column: fencing_token' }, 'wrong-shape'],
  [{ code: 'SQLITE_ERROR', message: 'table shedlock has no column named x' }, 'wrong-shape'],
  [{ code: 'SQLITE_IOERR_WRITE' }, 'unknown'],
  [{ code: 'SQLITE_FULL' }, 'refused'],
];

void test('SQLite: a statement that failed was undone, unless the disk failed', () => {
  for (const [error, kind] of SQLITE)
    assert.equal(sqlite.failureOf(driverErrorOf(error)), kind, JSON.stringify(error));
});

void test('a connection is kept only after errors that do not concern it', () => {
  const kept: SqlFailureKind[] = ['duplicate', 'contention', 'missing-table', 'wrong-shape'];
  const dropped: SqlFailureKind[] = ['unknown', 'refused', 'not-the-primary'];
  assert.ok(kept.every((kind) => HARMLESS.has(kind)) && !dropped.some((kind) => HARMLESS.has(kind)));
});

void test('any thrown value is accepted, and has a message', () => {
  for (const thrown of [null, undefined, 'text', 7, {}, new Error('x')])
    assert.equal(typeof driverErrorOf(thrown).message, 'string');
});
