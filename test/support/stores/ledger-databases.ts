import Database from 'better-sqlite3';
import { after, type TestContext } from 'node:test';
import { eventually } from '../clocks/eventually';
import {
  databaseOn,
  sqliteDatabase,
  testHere,
  testOn,
  type DatabaseName,
  type TestDatabase,
} from '../databases/fresh';
import { ledgerDataSource } from '../databases/run-tables';
import { Stranger } from '../databases/stranger';
import type { ServerDatabase } from '../databases/types';

/** The tables of locks and runs; tables with references come first. */
const TABLES = ['cronlatch_run_event', 'cronlatch_run', 'shedlock'];

const free = new Map<DatabaseName, TestDatabase>();

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
  const run = async (t: TestContext): Promise<void> => {
    const database = free.get(kind) ?? (await create(kind));
    free.delete(kind);
    try {
      await body(database, t);
    } finally {
      await empty(kind, database);
      free.set(kind, database);
    }
  };
  if (kind === 'sqlite') testHere(kind, name, run);
  else testOn(kind, name, run);
}

async function create(kind: DatabaseName): Promise<TestDatabase> {
  const database = kind === 'sqlite' ? sqliteDatabase() : await databaseOn(kind);
  await (await ledgerDataSource(database)).destroy();
  return database;
}

/** Empties the tables. Remaining sessions on a server are ended first, because they could still write. */
async function empty(kind: DatabaseName, database: TestDatabase): Promise<void> {
  const statements = TABLES.map((table) => `DELETE FROM ${table}`);
  if (kind === 'sqlite') {
    const file = new Database(database.environment['DATABASE_FILE']);
    file.exec(statements.join(';'));
    file.close();
    return;
  }
  const server = database as ServerDatabase<unknown>;
  const stranger = new Stranger(kind, server);
  await eventually(async () => {
    if ((await stranger.countSessions()) === 0) return true;
    // A session may have ended meanwhile.
    await stranger.killSessions().catch(() => {});
    return false;
  }, 'no session is left in the database');
  for (const statement of statements) await server.ask(statement);
}
