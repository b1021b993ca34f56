import { Client, Pool, type PoolConfig } from 'pg';
import { urlOn } from './running-servers';
import { freshName, type ServerDatabase } from './test-database';

export type PostgresDatabase = ServerDatabase<Client>;

export async function postgresDatabase(): Promise<PostgresDatabase> {
  const name = freshName();
  await onServer(`CREATE DATABASE ${name}`);
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
      await root.end();
      // Otherwise all sessions would have to leave it first.
      await onServer(`DROP DATABASE ${name} WITH (FORCE)`);
    },
  };
}

/**
 * A pool of an application. Its `end` resolves before its connections have ended, and the drop of the database then ends them
 * with an error.
 */
export function postgresPool(options: PoolConfig): Pool {
  return new Pool(options).on('error', () => {});
}

/** From another database, because a database cannot be dropped from inside; every server has this one. */
async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: urlOn('postgres', 'postgres') });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
