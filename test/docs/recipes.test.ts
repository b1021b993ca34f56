import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockStorageError } from 'cronlatch';
import {
  BetterSqlite3LockProvider,
  createJobGuard,
  createTables as createSqliteTables,
} from 'cronlatch/better-sqlite3';
import { createTables as createMysqlTables } from 'cronlatch/mysql2';
import { createTables } from 'cronlatch/pg';
import { closing } from '../support/benches/closing';
import { eventually } from '../support/clocks/eventually';
import { testCodeOn } from '../support/checks/page-tests';
import { databaseOn, sqliteDatabase } from '../support/databases/fresh';
import { testOn } from '../support/servers/test-on';
import { closed } from './recipes/close-day';
import { handler } from './recipes/handler';
import { takeTurns } from './recipes/leader';
import { guardWithSecret } from './recipes/secret';
import { invoicesOf } from './recipes/tenants';

testCodeOn('docs/recipes.md', 'test/docs/recipes', ['close-day.ts']);

async function sqliteAddress(): Promise<{ readonly url: string; dispose(): unknown }> {
  const database = sqliteDatabase();
  const url = `sqlite:${(database.options as { database: string }).database}`;
  await createSqliteTables(url);
  return { url, dispose: () => database.dispose() };
}

void test('one instance leads, and when it stops, the other one does', async () => {
  const database = await sqliteAddress();
  const stops = [new AbortController(), new AbortController()] as const;
  const leaders: number[] = [];
  const lead = (instance: number) => async (signal: AbortSignal) => {
    leaders.push(instance);
    if (!signal.aborted)
      await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    leaders.splice(leaders.indexOf(instance), 1);
  };
  const options = { logger: false, pollInterval: false } as const;
  await using first = closing(await createJobGuard(database.url, options));
  await using second = closing(await createJobGuard(database.url, options));
  const turns = [takeTurns(first, lead(0), stops[0].signal), takeTurns(second, lead(1), stops[1].signal)];
  await eventually(() => leaders.length === 1, 'a leader');
  const [leader = 0] = leaders;
  stops[leader as 0 | 1].abort();
  await eventually(() => leaders.length === 1 && leaders[0] === 1 - leader, 'the other leader');
  for (const stop of stops) stop.abort();
  await Promise.all(turns);
  assert.deepEqual(leaders, []);
  await database.dispose();
});

void test('each tenant has its locks in its own database', async () => {
  const [paris, rome] = [await sqliteAddress(), await sqliteAddress()];
  await using inParis = closing(new BetterSqlite3LockProvider(paris.url));
  await using inRome = closing(new BetterSqlite3LockProvider(rome.url));
  const sent: string[] = [];
  const sendInvoices = invoicesOf(
    new Map([
      ['paris', inParis],
      ['rome', inRome],
    ]),
    async (tenant) => {
      await nextTurn();
      sent.push(tenant);
    },
  );
  await Promise.all(['paris', 'rome', 'london'].map((tenant) => sendInvoices(tenant)));
  assert.deepEqual(sent.sort(), ['paris', 'rome']);
  const locksIn = async (provider: BetterSqlite3LockProvider) =>
    (await provider.list({})).map(({ name }) => name);
  assert.deepEqual([await locksIn(inParis), await locksIn(inRome)], [['paris:invoices'], ['rome:invoices']]);
  for (const database of [paris, rome]) await database.dispose();
});

/** Sets variables of the environment during the call. */
async function withEnvironment<T>(
  variables: Readonly<Record<string, string>>,
  call: () => Promise<T>,
): Promise<T> {
  const before = { ...process.env };
  Object.assign(process.env, variables);
  try {
    return await call();
  } finally {
    process.env = before;
  }
}

testOn('postgres', 'a function of a serverless platform runs the job once a day', async () => {
  await using database = closing(await databaseOn('postgres'));
  await createTables(database.url);
  const time = new Date().toISOString();
  const ends = await withEnvironment({ DATABASE_URL: database.url }, async () => [
    await handler({ time }),
    await handler({ time }),
  ]);
  assert.deepEqual(ends, ['completed', 'already-completed']);
  assert.equal(closed.length, 1);
});

testOn('mysql', 'the guard connects with the password in the file, and not with another', async () => {
  await using database = closing(await databaseOn('mysql'));
  await createMysqlTables(database.url);
  const url = new URL(database.url);
  const schema = url.pathname.slice(1);
  await database.ask(`CREATE USER ${schema} IDENTIFIED BY 'secret'`);
  await database.ask(`GRANT ALL ON ${schema}.* TO ${schema}`);
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-'));
  const file = join(folder, 'database-password');
  try {
    await withEnvironment({ DATABASE_URL: `mysql://${schema}@${url.host}/${schema}` }, async () => {
      writeFileSync(file, 'guess\n');
      await assert.rejects(guardWithSecret(file), LockStorageError);
      writeFileSync(file, 'secret\n');
      const { guard, pool } = await guardWithSecret(file);
      await guard.close();
      await pool.end();
    });
  } finally {
    await database.ask(`DROP USER ${schema}`);
    rmSync(folder, { recursive: true });
  }
});
