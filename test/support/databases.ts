/** The databases of the tests: each test has its own fresh one. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';
import { mariadbDatabase, mysqlDatabase } from './mysql-databases';
import { postgresDatabase } from './postgres-database';
import type { TestDatabase } from './test-database';
import { testOn } from './test-on';

export { mariadbDatabase, mysqlDatabase, type MysqlDatabase } from './mysql-databases';
export { postgresDatabase } from './postgres-database';
export type { Administrator, TestDatabase } from './test-database';
export { reportLack, testOn, testOnOwn } from './test-on';

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

type Body = (database: TestDatabase, t: TestContext) => Promise<void>;

/** One test for each kind of database, with a fresh one. */
export function testOnEvery(name: string, body: Body): void {
  for (const database of DATABASE_NAMES) testWith(database, name, body);
}

/** A test for one kind of database, with a fresh one. */
export function testWith(database: DatabaseName, name: string, body: Body): void {
  if (database === 'sqlite') void test(`sqlite: ${name}`, withDatabase(sqliteDatabase, body));
  else
    testOn(
      database,
      name,
      withDatabase(() => databaseOn(database), body),
    );
}

function withDatabase(create: () => TestDatabase | Promise<TestDatabase>, body: Body) {
  return async (t: TestContext): Promise<void> => {
    const database = await create();
    try {
      await body(database, t);
    } finally {
      await database.dispose();
    }
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
