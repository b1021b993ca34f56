import assert from 'node:assert/strict';
import { test } from 'node:test';
import Database from 'better-sqlite3';
import { drizzle } from 'drizzle-orm/better-sqlite3';
import { completeRunIn, createJobGuard, createTables } from 'cronlatch/better-sqlite3';

void test('drizzle on SQLite: its database completes the run in the transaction', async () => {
  const database = new Database(':memory:');
  await createTables(database);
  const db = drizzle({ client: database });
  const guard = await createJobGuard(database, { pollInterval: false, logger: false });
  await guard.run(
    { name: 'close-day', lockAtMostFor: '1m', oncePer: { period: 'day', timeZone: 'UTC' } },
    () => db.transaction(() => completeRunIn(db.$client, { result: 'done' })),
  );
  const last = await guard.ledger.last('close-day');
  assert.deepEqual([last?.state, last?.result], ['completed', '"done"']);
  await guard.close();
  database.close();
});
