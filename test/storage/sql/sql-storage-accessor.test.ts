import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError } from 'cronlatch';
import { systemClock } from 'cronlatch/provider';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { tableOf } from '#cronlatch/storage/sql/schema/tables';
import { Connections } from '#cronlatch/storage/sql/connections/connections';
import { NamedStatement } from '#cronlatch/storage/sql/statements/statement';
import { SqlStorageAccessor } from '#cronlatch/storage/sql/lock/sql-storage-accessor';
import type { SqlResult, SqlStatement } from '#cronlatch/storage/sql/statements/statement';

const REQUEST = { name: 'job', owner: 'me', lockAtMostForMs: 1000, lockAtLeastForMs: 0 };

const TEXT = { type: 'varchar', collation_name: 'utf8mb4_bin', charset_name: 'utf8mb4' };

/** The information schema's description of the migration's table. */
const COLUMNS = [
  ['name', { ...TEXT, length: 64 }],
  ['lock_until', { type: 'datetime', digits: 6 }],
  ['locked_at', { type: 'datetime', digits: 6 }],
  ['locked_by', { ...TEXT, length: 255 }],
  ['fencing_token', { type: 'bigint' }],
].map(([name, column]) => ({
  ...{ table_number: 0, indexes: JSON.stringify([['PRIMARY', 1, 'name', 1]]), name, extra: '' },
  ...{ length: null, digits: null, is_nullable: 'NO', default_value: null },
  ...{ kind: 'BASE TABLE', engine: 'InnoDB', transactions: 'YES' },
  ...(column as object),
}));

/** An accessor whose driver returns invalid results. */
function accessorThatGets(result: Partial<SqlResult>): SqlStorageAccessor {
  const answer: SqlResult = { rows: [], affectedRows: undefined, insertId: undefined, ...result };
  const execute = ({ text }: SqlStatement): Promise<SqlResult> =>
    Promise.resolve(text.includes('information_schema') ? { ...answer, rows: COLUMNS } : answer);
  const source = {
    ...{ size: 1, close: () => Promise.resolve() },
    open: () => ({
      ...{ execute, transaction: () => assert.fail(), rollBack: () => assert.fail() },
      ...{ release: () => {}, destroy: () => {} },
    }),
  };
  return new SqlStorageAccessor({
    connections: new Connections(source, mysql, systemClock),
    dialect: mysql,
    table: tableOf('lock'),
    name: undefined,
    address: 'nowhere',
    redact: (text) => text,
    warn: assert.fail,
  });
}

for (const affectedRows of [undefined, null, '1', 2, -1, true]) {
  void test(`an affected-row count of ${String(affectedRows)} is an error, never a result`, async () => {
    const accessor = accessorThatGets({ affectedRows, insertId: 1 });
    await assert.rejects(
      accessor.updateRecord(REQUEST, { timeoutMs: 100 }),
      (error) =>
        error instanceof LockStorageError && /the driver reported .* written rows/.test(error.message),
    );
  });
}

for (const insertId of [undefined, null, '', 'x', 2 ** 53, '9007199254740993']) {
  void test(`a token of ${String(insertId)} is an error`, async () => {
    await assert.rejects(
      accessorThatGets({ affectedRows: 1, insertId }).updateRecord(REQUEST, { timeoutMs: 100 }),
      /not a safe integer/,
    );
  });
}

void test('a token can be a number, a string or a bigint', async () => {
  for (const insertId of [1e15, '1000000000000000', 10n ** 15n]) {
    assert.deepEqual(
      await accessorThatGets({ affectedRows: 1, insertId }).updateRecord(REQUEST, { timeoutMs: 100 }),
      { fencingToken: 1e15 },
    );
  }
});

void test("named parameters become the driver's placeholders, in its order", () => {
  const statement = new NamedStatement('SELECT :b, :a, :b::bigint', (position) => `$${position}`);
  const bound = statement.bind({ a: 1, b: 'x' });
  assert.equal(bound.text, 'SELECT $1, $2, $3::bigint');
  assert.deepEqual(bound.values, ['x', 1, 'x']);
  assert.throws(() => statement.bind({ a: 1 }), /:b has no value/);
});
