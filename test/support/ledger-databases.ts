import { after, type TestContext } from 'node:test';
import {
  databaseOn,
  testOn,
  testWith,
  type DatabaseName,
  type ServerName,
  type TestDatabase,
} from './databases';
import { eventually } from './eventually';
import { ledgerDataSource } from './run-places';
import { Stranger } from './stranger';
import type { ServerDatabase } from './test-database';

/** The tables of locks and runs; tables with references come first. */
const TABLES = ['cronlatch_run_event', 'cronlatch_run', 'shedlock'];

const free = new Map<ServerName, ServerDatabase<unknown>>();

after(async () => {
  for (const database of free.values()) await database.dispose();
});

/**
 * A test for one kind of database, with empty tables of locks and runs. The tests of a file use one database in turn,
 * because creating a database takes longer than most cases. No test may change the tables themselves.
 */
export function testWithTables(
  kind: DatabaseName,
  name: string,
  body: (database: TestDatabase, t: TestContext) => Promise<void>,
): void {
  if (kind === 'sqlite')
    testWith(kind, name, async (database, t) => {
      await createTables(database);
      await body(database, t);
    });
  else
    testOn(kind, name, async (t) => {
      const database = free.get(kind) ?? (await create(kind));
      free.delete(kind);
      try {
        await body(database, t);
      } finally {
        await empty(kind, database);
        free.set(kind, database);
      }
    });
}

async function create(kind: ServerName): Promise<ServerDatabase<unknown>> {
  const database = await databaseOn(kind);
  await createTables(database);
  return database;
}

async function createTables(database: TestDatabase): Promise<void> {
  await (await ledgerDataSource(database)).destroy();
}

/** Empties the tables. Remaining sessions are ended first, because they could still write. */
async function empty(kind: ServerName, database: ServerDatabase<unknown>): Promise<void> {
  const stranger = new Stranger(kind, database);
  await eventually(async () => {
    if ((await stranger.countSessions()) === 0) return true;
    // A session may have ended meanwhile.
    await stranger.killSessions().catch(() => {});
    return false;
  }, 'no session is left in the database');
  for (const table of TABLES) await database.ask(`DELETE FROM ${table}`);
}
