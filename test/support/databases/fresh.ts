/** The databases of the tests: each test has its own fresh one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { closing } from '../benches/closing';
import { onStores, testHere, testOn } from '../servers/test-on';
import { mariadbDatabase, mysqlDatabase } from './mysql';
import { postgresDatabase } from './postgres';
import type { TestDatabase } from './types';

export { mariadbDatabase, mysqlDatabase } from './mysql';
export { postgresDatabase } from './postgres';
export type { Administrator, TestDatabase } from './types';
export { isWanted, reportLack, testHere, testOn, testOnOwn } from '../servers/test-on';

const ON_SERVERS = { mysql: mysqlDatabase, mariadb: mariadbDatabase, postgres: postgresDatabase };

export type ServerName = keyof typeof ON_SERVERS;

export const SERVER_NAMES = Object.keys(ON_SERVERS) as ServerName[];

export type DatabaseName = ServerName | 'sqlite';

export const DATABASE_NAMES: readonly DatabaseName[] = [...SERVER_NAMES, 'sqlite'];

/** For behaviour that is the same on every server. */
export function databaseOn<Name extends ServerName>(server: Name): ReturnType<(typeof ON_SERVERS)[Name]>;
export function databaseOn(server: ServerName) {
  return ON_SERVERS[server]();
}

/** One test for each server. */
export function testOnEveryServer(
  name: string,
  body: (server: ServerName, t: TestContext) => Promise<void>,
): void {
  onStores(SERVER_NAMES, name, (server) => testOn(server, name, (t) => body(server, t)));
}

type Body = (database: TestDatabase, t: TestContext) => Promise<void>;

/** One test for each kind of database, or for the given kinds, with a fresh one. */
export function testOnEvery<Name extends DatabaseName>(
  name: string,
  body: (database: TestDatabase, t: TestContext, kind: Name) => Promise<void>,
  on: readonly Name[] = DATABASE_NAMES as readonly Name[],
): void {
  onStores(on, name, (kind) => testWith(kind, name, (database, t) => body(database, t, kind)));
}

/** A test for one kind of database, with a fresh one. */
export function testWith(database: DatabaseName, name: string, body: Body): void {
  if (database === 'sqlite') testHere(database, name, withDatabase(sqliteDatabase, body));
  else
    testOn(
      database,
      name,
      withDatabase(() => databaseOn(database), body),
    );
}

function withDatabase(create: () => TestDatabase | Promise<TestDatabase>, body: Body) {
  return async (t: TestContext): Promise<void> => {
    await using database = closing(await create());
    await body(database, t);
  };
}

export function sqliteDatabase(): TestDatabase {
  const folder = mkdtempSync(join(tmpdir(), 'cronlatch-'));
  const database = join(folder, 'test.sqlite');
  return {
    options: { type: 'better-sqlite3', database, enableWAL: true },
    environment: { DATABASE_FILE: database },
    dispose: () => Promise.resolve(rmSync(folder, { recursive: true })),
  };
}
