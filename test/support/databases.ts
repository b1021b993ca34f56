import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { randomBytes } from 'node:crypto';
import { test, type TestContext } from 'node:test';
import { createConnection, type Connection } from 'mysql2/promise';
import type { DataSourceOptions } from 'typeorm';

interface Server {
  readonly name: string;
  readonly url: string;
  readonly version: string;
  readonly origin: string;
}

const servers = JSON.parse(process.env['CRONLATCH_TEST_SERVERS'] ?? '[]') as Server[];

/** A fresh database of a test's own. */
export interface TestDatabase {
  /** What leads an application to it. */
  readonly options: DataSourceOptions;
  /** The environment that leads `ormconfig.ts` to it. */
  readonly environment: Record<string, string>;
  dispose(): Promise<void>;
}

export interface MysqlDatabase extends TestDatabase {
  readonly name: string;
  readonly url: string;
  /** A connection of the test's own, as root. */
  readonly root: Connection;
}

/** A test that needs a server. Without the server it is skipped, and the run says so at its end. */
export function testOn(server: string, name: string, body: (t: TestContext) => Promise<void>): void {
  const isThere = servers.some((running) => running.name === server);
  testIf(isThere, server, `${server}: ${name}`, body);
}

/** A test that needs a server for itself, to kill it: not one that the environment names. */
export function testOnOwn(server: string, name: string, body: (t: TestContext) => Promise<void>): void {
  const isPrivate = servers.some((running) => running.name === server && running.origin !== 'environment');
  testIf(isPrivate, `${server} that may be killed`, `${server}: ${name}`, body);
}

function testIf(
  condition: boolean,
  needed: string,
  name: string,
  body: (t: TestContext) => Promise<void>,
): void {
  const log = process.env['CRONLATCH_TEST_SKIPS'];
  if (!condition && log !== undefined) appendFileSync(log, `${needed}\n`);
  void test(name, condition ? {} : { skip: `there is no ${needed}` }, body);
}

export async function mysqlDatabase(): Promise<MysqlDatabase> {
  const server = servers.find(({ name }) => name === 'mysql');
  if (server === undefined) throw new Error('There is no MySQL: use testOn.');
  const name = `cronlatch_${randomBytes(6).toString('hex')}`;
  const root = await createConnection({ uri: server.url });
  await root.query(`CREATE DATABASE ${name}`);
  await root.query(`USE ${name}`);
  const url = new URL(server.url);
  url.pathname = `/${name}`;
  return {
    name,
    url: url.href,
    root,
    options: { type: 'mysql', url: url.href },
    environment: { DATABASE_URL: url.href },
    async dispose() {
      await root.query(`DROP DATABASE ${name}`);
      await root.end();
    },
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
