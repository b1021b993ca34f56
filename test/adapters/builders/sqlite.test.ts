import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { sql } from 'drizzle-orm';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import knex from 'knex';
import { Kysely, SqliteDialect } from 'kysely';
import { fromDrizzle, fromKnex, fromKysely } from 'cronlatch/adapters';
import { completeRunIn, createJobGuard, createTables } from 'cronlatch/better-sqlite3';

const REFUSED = {
  code: 'CRONLATCH_INVALID_USE',
  message: /cannot use a transaction on SQLite, because those of better-sqlite3 are synchronous/,
};

void test('knex: a transaction on SQLite is refused with the reason', async () => {
  const client = { client: 'better-sqlite3', connection: ':memory:', useNullAsDefault: true };
  const db = knex(client);
  await db.transaction((trx) => Promise.resolve(assert.throws(() => fromKnex(trx), REFUSED)));
  await db.destroy();
});

void test('kysely: a transaction on SQLite is refused with the reason', async () => {
  const db = new Kysely({ dialect: new SqliteDialect({ database: new Database(':memory:') }) });
  const use = (trx: typeof db): Promise<void> =>
    Promise.resolve(assert.throws(() => fromKysely(trx), REFUSED));
  await db.transaction().execute(use);
  await db.destroy();
});

void test('drizzle: a transaction on SQLite is refused, and its database completes the run', async () => {
  const database = new Database(':memory:');
  await createTables(database);
  const db = drizzle({ client: database });
  const guard = await createJobGuard(database, { pollInterval: false, logger: false });
  await guard.run(
    { name: 'close-day', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } },
    () =>
      db.transaction((tx) => {
        // @ts-expect-error -- it has no asynchronous method
        assert.throws(() => fromDrizzle(tx, sql), REFUSED);
        completeRunIn(db.$client, { result: 'done' });
      }),
  );
  const last = await guard.ledger.last('close-day');
  assert.deepEqual([last?.state, last?.result], ['completed', '"done"']);
  await guard.close();
  database.close();
});
