import assert from 'node:assert/strict';
import { test } from 'node:test';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { SqlExecutionError } from '#cronlatch/storage/sql/statements/statement';
import { translateDriverError } from '#cronlatch/storage/sql/statements/sql-failure';

const context = {
  ...{ dialect: mysql, address: 'mysql at localhost', tableName: 'shedlock', name: 'shop' },
  ...{ redact: (message: string) => message, remedy: 'run it', subject: "lock 'job'" },
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
  assert.equal(
    describeFailed(failure),
    'Cannot reach mysql at localhost: nothing listens there (connect ECONNREFUSED ::1:1, connect ECONNREFUSED 127.0.0.1:1).',
  );
});

void test('a connection that could not be opened is described without a statement', () => {
  for (const [code, message, described] of [
    [
      '28P01',
      'password wrong',
      'Cannot log in to mysql at localhost as app: the server refused the user name or the password (password wrong).',
    ],
    ['28000', 'no entry for host', 'Cannot log in to mysql at localhost as app: no entry for host.'],
    [
      'ETIMEDOUT',
      'connect ETIMEDOUT',
      'Cannot reach mysql at localhost: it does not answer in time (connect ETIMEDOUT).',
    ],
    [
      'ER_CON_COUNT_ERROR',
      'Too many connections',
      'Cannot connect to mysql at localhost: Too many connections.',
    ],
  ] as const)
    assert.equal(describeFailed(Object.assign(new Error(message), { code })), described);
});

function describeFailed(cause: Error): string {
  const error = new SqlExecutionError(cause.message, 'not-sent', { cause });
  return translateDriverError(error, { ...context, user: 'app' }).message;
}
