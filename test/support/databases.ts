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
  if (servers.some((running) => running.name === server)) {
    void test(`${server}: ${name}`, body);
    return;
  }
  const log = process.env['CRONLATCH_TEST_SKIPS'];
  if (log !== undefined) appendFileSync(log, `${server}\n`);
  void test(`${server}: ${name}`, { skip: `there is no ${server}` });
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
