import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { translateDriverError } from '#cronlatch/storage/sql/connections/storage-error';

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
