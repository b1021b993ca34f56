import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { translateDriverError } from '#cronlatch/storage/sql/connections/sql-failure';

const context = {
  ...{ dialect: mysql, address: 'mysql at localhost', tableName: 'shedlock' },
  ...{ redact: (message: string) => message, migration: 'run it', subject: "lock 'job'" },
};

// A regular expression that tries each blank as the start of the trailing blanks would take an hour.
void test('a long driver message is searched in linear time', { timeout: 60_000 }, () => {
  const blanks = ' '.repeat(2_000_000);
  const { message } = translateDriverError(new Error(`no${blanks}answer. . `), context);
  assert.ok(message.endsWith(`no${blanks}answer.`));
});

// Node tries every address of a host, and then rejects with an AggregateError that has no message.
void test('a host whose addresses all fail is reported with the reason of each address', () => {
  const refused = (address: string): Error => new Error(`connect ECONNREFUSED ${address}`);
  const failure = Object.assign(new AggregateError([refused('::1:1'), refused('127.0.0.1:1')]), {
    code: 'ECONNREFUSED',
  });
  const { message } = translateDriverError(failure, context);
  assert.ok(message.endsWith(': connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1.'), message);
});
