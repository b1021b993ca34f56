import Database from 'better-sqlite3';
import * as sqliteDriver from 'cronlatch/better-sqlite3';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import { databaseOn, sqliteDatabase, testHere, testOn, type DatabaseName } from './fresh';
import type { ServerDatabase } from './types';

/** A fresh database of any kind, with a connection of the test's own. */
export type AskedDatabase = Omit<ServerDatabase<unknown>, 'name' | 'root'> & {
  readonly kind: DatabaseName;
  /** Creates the tables of the library, unless they exist. */
  readonly createTables: () => Promise<void>;
};

export async function askedDatabase(kind: DatabaseName): Promise<AskedDatabase> {
  if (kind === 'sqlite') return askedFile();
  const database = await databaseOn(kind);
  const { createTables } = kind === 'postgres' ? pgDriver : mysqlDriver;
  return Object.assign(database, { kind, createTables: () => createTables(database.url) });
}

function askedFile(): AskedDatabase {
  const file = sqliteDatabase();
  const handle = new Database(file.options.database as string);
  return {
    ...file,
    kind: 'sqlite',
    url: `sqlite:${handle.name}`,
    ask: (statement) => Promise.resolve(rowsOf(handle, statement)),
    createTables: () => sqliteDriver.createTables(handle),
    async dispose() {
      handle.close();
      await file.dispose();
    },
  };
}

/** A test that opens such databases of a kind. */
export function testOnKind(kind: DatabaseName, name: string, body: () => Promise<void>): void {
  if (kind === 'sqlite') testHere(kind, name, body);
  else testOn(kind, name, body);
}

/** Executes any statement. */
export function rowsOf(handle: Database.Database, statement: string): Record<string, unknown>[] {
  const prepared = handle.prepare(statement);
  if (prepared.reader) return prepared.all() as Record<string, unknown>[];
  prepared.run();
  return [];
}
