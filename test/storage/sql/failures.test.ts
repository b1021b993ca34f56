import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { driverErrorOf, HARMLESS, type SqlFailureKind } from '#cronlatch/storage/sql/statements/sql-failure';

type Case = readonly [error: object, kind: SqlFailureKind];

function numbers(kind: SqlFailureKind, ...all: readonly number[]): Case[] {
  return all.map((errno) => [{ errno }, kind]);
}

function codes(kind: SqlFailureKind, ...all: readonly string[]): Case[] {
  return all.map((code) => [{ code }, kind]);
}

const NEVER_SENT = codes('refused', 'ECONNREFUSED', 'ENOTFOUND');
const BROKEN = codes('unknown', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT');

const MYSQL: readonly Case[] = [
  ...numbers('duplicate', 1062),
  ...numbers('contention', 1213, 1205, 3572, 1020, 3101),
  ...numbers('unknown', 1053, 1105, 1180, 1317, 1927, 2006, 2013, 8501),
  ...numbers('not-the-primary', 1290, 1836, 1792),
  ...numbers('missing-table', 1146, 1049),
  ...numbers('wrong-shape', 1054, 1176, 1406, 1364),
  ...numbers('refused', 1040, 1045, 1142, 1064),
  // Node's own numbers are negative.
  ...[...NEVER_SENT, ...BROKEN].map(([error, kind]): Case => [{ ...error, errno: -104 }, kind]),
  ...codes('unknown', 'PROTOCOL_CONNECTION_LOST', 'PROTOCOL_SEQUENCE_TIMEOUT'),
  [{ message: `Can't add new command when connection is in closed state` }, 'refused'],
  [{ message: 'something new' }, 'unknown'],
];

const POSTGRES: readonly Case[] = [
  ...codes('duplicate', '23505'),
  ...codes('contention', '40001', '40P01', '55P03', '57014'),
  ...codes('unknown', '40003', '57P01', '57P02', '57P04', '57P05', '08000', '08006', '08007'),
  ...codes('not-the-primary', '25006'),
  ...codes('missing-table', '42P01', '3F000'),
  ...codes('wrong-shape', '42703', '22001', '23502', '42P10'),
  ...codes('refused', '53300', '28P01', '42501', '42601', '25P02'),
  ...NEVER_SENT,
  ...BROKEN,
  [{ message: 'Client has encountered a connection error and is not queryable' }, 'refused'],
  [{ message: 'something new' }, 'unknown'],
];

const SQLITE: readonly Case[] = [
  ...codes('contention', 'SQLITE_BUSY', 'SQLITE_BUSY_SNAPSHOT', 'SQLITE_LOCKED', 'SQLITE_LOCKED_SHAREDCACHE'),
  ...codes('duplicate', 'SQLITE_CONSTRAINT_UNIQUE', 'SQLITE_CONSTRAINT_PRIMARYKEY'),
  ...codes('not-the-primary', 'SQLITE_READONLY'),
  [{ code: 'SQLITE_ERROR', message: 'no such table: shedlock' }, 'missing-table'],
  [{ code: 'SQLITE_ERROR', message: 'no such column: fencing_token' }, 'wrong-shape'],
  [{ code: 'SQLITE_ERROR', message: 'table shedlock has no column named x' }, 'wrong-shape'],
  ...codes('unknown', 'SQLITE_IOERR_WRITE'),
  ...codes('refused', 'SQLITE_FULL'),
];

for (const [dialect, cases] of [
  [mysql, MYSQL],
  [postgres, POSTGRES],
  [sqlite, SQLITE],
] as const)
  void test(`${dialect.label}: an error counts as unknown unless it shows that nothing was done`, () => {
    for (const [error, kind] of cases)
      assert.equal(dialect.failureOf(driverErrorOf(error)), kind, JSON.stringify(error));
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
