import Database from 'better-sqlite3';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { sqlite } from '#cronlatch/storage/sql/dialects/sqlite';
import { inspection } from '#cronlatch/storage/sql/dialects/sqlite/tables';
import type { SqlStatement } from '#cronlatch/storage/sql/statements/statement';
import type { BareConnection, BenchDatabase, Server } from './bench-database';

/** SQLite needs no server, so it is always available. */
export const SQLITE_SERVER: Server = {
  name: 'sqlite',
  url: 'sqlite:',
  version: version(),
  origin: 'package',
};

function version(): string {
  return inFile(':memory:', (database) => String(database.prepare('SELECT sqlite_version()').pluck().get()));
}

/** A file in WAL mode, as the library recommends it. */
export async function openSqlite(): Promise<BenchDatabase> {
  const folder = await mkdtemp(join(tmpdir(), 'cronlatch-bench-'));
  const file = join(folder, 'bench.db');
  inFile(file, (database) => database.pragma('journal_mode = WAL'));
  const durability = inFile(file, settingsOf);
  return {
    options: { type: 'better-sqlite3', database: file, enableWAL: true },
    durability,
    dialect: sqlite,
    shape: { now: inspection.now({ type: 'INTEGER' }) },
    connect: () => Promise.resolve(connect(file)),
    counters: undefined,
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true });
    },
  };
}

function inFile<T>(file: string, use: (database: Database.Database) => T): T {
  const database = new Database(file);
  try {
    return use(database);
  } finally {
    database.close();
  }
}

/** How safe the commits of a new connection are. It decides that when it first reads the file. */
function settingsOf(database: Database.Database): string {
  database.prepare('SELECT COUNT(*) FROM sqlite_schema').get();
  const valueOf = (name: string): string => `${name} = ${String(database.pragma(name, { simple: true }))}`;
  return ['journal_mode', 'synchronous'].map(valueOf).join(', ');
}

function connect(file: string): BareConnection {
  const database = new Database(file);
  const prepared = new Map<string, Database.Statement>();
  const statementOf = ({ text }: SqlStatement): Database.Statement => {
    const statement = prepared.get(text) ?? database.prepare(text);
    prepared.set(text, statement);
    return statement;
  };
  return {
    send(statement) {
      const { reader } = statementOf(statement);
      return Promise.resolve(
        reader
          ? statementOf(statement).all(...statement.values).length
          : statementOf(statement).run(...statement.values).changes,
      );
    },
    end: () => Promise.resolve(void database.close()),
  };
}
