import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fromDrizzle, fromKnex } from 'cronlatch/adapters';

const KIND: unique symbol = Symbol.for('drizzle:entityKind');
const TEXT = 'UPDATE "a?$1""b" SET x = $1, y = $2::bigint WHERE z = $3';
const VALUES = ['one', null, 3];

void test('fromKnex puts its own placeholders, and escapes those in names', async () => {
  const sent: unknown[] = [];
  const raw = (...args: unknown[]): Promise<unknown> => {
    sent.push(args);
    return Promise.resolve({ rows: [{ nowUs: 1 }], rowCount: 1 });
  };
  const answer = await fromKnex(Object.assign({ raw }, { client: { dialect: 'postgresql' } })).run(
    TEXT,
    VALUES,
  );
  assert.deepEqual(sent, [['UPDATE "a\\?$1""b" SET x = ?, y = ?::bigint WHERE z = ?', VALUES]]);
  assert.deepEqual(answer.rows, [{ now_us: 1 }]);
});

void test('fromDrizzle leaves the values to the tag, which binds them', async () => {
  class Transaction {
    static readonly [KIND] = 'PgDatabase';
    readonly transaction = (): void => {};
    readonly sent: unknown[] = [];
    execute(query: unknown): Promise<unknown> {
      this.sent.push(query);
      return Promise.resolve({ rows: [] });
    }
  }
  const tx = new Transaction();
  const tag = (strings: TemplateStringsArray, ...values: unknown[]): unknown => ({
    strings: [...strings],
    raw: [...strings.raw],
    values,
  });
  await fromDrizzle(tx, tag).run(TEXT, VALUES);
  const strings = ['UPDATE "a?$1""b" SET x = ', ', y = ', '::bigint WHERE z = ', ''];
  assert.deepEqual(tx.sent, [{ strings, raw: strings, values: VALUES }]);
});
