import type { Socket } from 'node:net';
import { Client, Pool, type PoolConfig } from 'pg';
import { runningServer, urlOn } from '../servers/running';
import { freshName, type ServerDatabase } from './types';

export type PostgresDatabase = ServerDatabase<Client>;

/**
 * Empties the database, as its sessions have ended. False if it differs from a new one in what no schema contains:
 * settings, extensions, default privileges.
 */
const EMPTY = `
  SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid();
  DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT nspname FROM pg_namespace WHERE nspname !~ '^pg_' AND nspname <> 'information_schema' LOOP
      EXECUTE format('DROP SCHEMA %I CASCADE', name);
    END LOOP;
    CREATE SCHEMA public AUTHORIZATION pg_database_owner;
    GRANT USAGE ON SCHEMA public TO PUBLIC;
  END $$;
  SELECT NOT EXISTS (SELECT FROM pg_db_role_setting JOIN pg_database ON setdatabase = pg_database.oid WHERE datname = current_database())
    AND NOT EXISTS (SELECT FROM pg_default_acl) AND (SELECT count(*) FROM pg_extension) = 1 AS is_empty`;

/** Emptied databases that the next tests take, because PostgreSQL creates one ten times slower than it empties one. */
const FREE = 'cronlatch_free_';

export async function postgresDatabase(): Promise<PostgresDatabase> {
  const name = freshName();
  if (!(await takeFree(name))) await administer(`CREATE DATABASE ${name}`);
  const url = urlOn('postgres', name);
  const root = new Client({ connectionString: url });
  await root.connect();
  return {
    name,
    url,
    root,
    ask: async (statement) => (await root.query<Record<string, unknown>>(statement)).rows,
    options: { type: 'postgres', url },
    environment: { DATABASE_URL: url },
    async dispose() {
      // The test may have ended this session.
      const isEmpty = isPrivate() && (await emptied(root).catch(() => false));
      await root.end();
      const rename = `ALTER DATABASE ${name} RENAME TO ${FREE}${name.slice(-12)}`;
      // An application that connects meanwhile is in the way.
      const isFree = isEmpty && (await administer(rename).then(Boolean, () => false));
      if (!isFree) await administer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/** A server that other programs use too keeps no databases. */
function isPrivate(): boolean {
  return runningServer('postgres')?.origin !== 'environment';
}

async function emptied(root: Client): Promise<boolean> {
  const results = (await root.query(EMPTY)) as unknown as { rows: { is_empty?: boolean }[] }[];
  return results.at(-1)?.rows[0]?.is_empty === true;
}

/** Another process may take the same at the same time: then its name is gone. */
async function takeFree(name: string): Promise<boolean> {
  const free = await administer(
    `SELECT datname FROM pg_database WHERE datname LIKE '${FREE}%' ORDER BY random()`,
  );
  for (const { datname } of free)
    if (await administer(`ALTER DATABASE ${datname} RENAME TO ${name}`).then(Boolean, () => false))
      return true;
  return false;
}

/**
 * A pool of an application. Its `end` resolves before its connections have ended, and the drop of the database then ends them
 * with an error.
 */
export function postgresPool(options: PoolConfig): Pool {
  return new Pool(options).on('error', () => {});
}

let connecting: Promise<Client> | undefined;
let asked = 0;

/**
 * On another database, because one cannot be renamed or dropped from inside; every server has this one. The connection
 * stays, and keeps no process alive while nothing is asked.
 */
async function administer(statement: string): Promise<{ datname?: string }[]> {
  const client = await (connecting ??= administrator());
  const socket = client.connection.stream as Socket;
  asked++;
  socket.ref();
  try {
    return (await client.query<{ datname?: string }>(statement)).rows;
  } finally {
    asked--;
    if (asked === 0) socket.unref();
  }
}

async function administrator(): Promise<Client> {
  const client = new Client({ connectionString: urlOn('postgres', 'postgres') });
  await client.connect();
  return client;
}
