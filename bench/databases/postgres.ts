import { randomBytes } from 'node:crypto';
import { Client } from 'pg';
import { postgres } from '#cronlatch/storage/sql/dialects/postgres';
import type { BareConnection, BareDatabase, BenchDatabase, Counts, Server } from './bench-database';
import { checkDurable, type ServerSettings } from './durability';

const DURABLE = { fsync: 'on', synchronous_commit: 'on' };

export async function openPostgres(server: Server): Promise<BenchDatabase> {
  // Every server has this database. It is used to create and drop others.
  const root = await connected(urlTo(server, 'postgres'));
  try {
    // The bench does not change a server that the environment names.
    if (server.origin !== 'environment') await makeDurable(root);
    const durability = checkDurable(server, DURABLE, await settingsOf(root));
    const name = `cronlatch_bench_${randomBytes(6).toString('hex')}`;
    await root.query(`CREATE DATABASE ${name}`);
    const url = urlTo(server, name);
    return {
      options: { type: 'postgres', url },
      durability,
      ...barePostgres(url),
      counters: {
        countConnections: () => countConnections(root, name),
        count: () => count(root, name),
      },
      async [Symbol.asyncDispose]() {
        await root.query(`DROP DATABASE ${name} WITH (FORCE)`);
        await root.end();
      },
    };
  } catch (error) {
    await root.end();
    throw error;
  }
}

export function barePostgres(url: string): BareDatabase {
  return { dialect: postgres, shape: { now: 'statement_timestamp()' }, connect: () => connect(url) };
}

function urlTo({ url }: Server, database: string): string {
  const named = new URL(url);
  named.pathname = `/${database}`;
  return named.href;
}

async function connected(connectionString: string): Promise<Client> {
  const client = new Client({ connectionString });
  await client.connect();
  return client;
}

/** A server reloads its settings a little later. */
const LONGEST_RELOAD_MS = 5000;

async function makeDurable(root: Client): Promise<void> {
  for (const [name, value] of Object.entries(DURABLE))
    await root.query(`ALTER SYSTEM SET ${name} = ${value}`);
  await root.query('SELECT pg_reload_conf()');
  const endsAtMs = performance.now() + LONGEST_RELOAD_MS;
  // Settings on the server's command line do not change; a later check reports them.
  while (!isDurable(await settingsOf(root)) && performance.now() < endsAtMs);
}

function isDurable(settings: ServerSettings): boolean {
  return Object.entries(DURABLE).every(([name, value]) => settings[name] === value);
}

async function settingsOf(root: Client): Promise<ServerSettings> {
  const select = 'SELECT name, setting FROM pg_settings WHERE name = ANY ($1)';
  const { rows } = await root.query<{ name: string; setting: string }>(select, [Object.keys(DURABLE)]);
  return Object.fromEntries(rows.map(({ name, setting }) => [name, setting]));
}

async function countConnections(root: Client, database: string): Promise<number> {
  const select = 'SELECT COUNT(*) AS connections FROM pg_stat_activity WHERE datname = $1';
  const { rows } = await root.query<{ connections: string }>(select, [database]);
  return Number(rows[0]?.connections);
}

/**
 * A session passes its numbers on when it ends. The server counts statements only with the extension pg_stat_statements;
 * a statement outside of a transaction is a commit.
 */
async function count(root: Client, database: string): Promise<Counts> {
  const { rows } = await root.query<{ xact_commit: string }>(
    'SELECT xact_commit FROM pg_stat_database WHERE datname = $1',
    [database],
  );
  return { statements: await countStatements(root, database), commits: Number(rows[0]?.xact_commit) };
}

async function countStatements(root: Client, database: string): Promise<number | undefined> {
  const installed = `SELECT 1 FROM pg_extension WHERE extname = 'pg_stat_statements'`;
  if ((await root.query(installed)).rowCount === 0) return undefined;
  const { rows } = await root.query<{ calls: string }>(
    `SELECT COALESCE(SUM(calls), 0) AS calls FROM pg_stat_statements
     WHERE dbid = (SELECT oid FROM pg_database WHERE datname = $1)`,
    [database],
  );
  return Number(rows[0]?.calls);
}

/** The server prepares named statements at their first use. A client of pg no longer queues statements itself. */
async function connect(url: string): Promise<BareConnection> {
  const client = await connected(url);
  const waiting: (() => void)[] = [];
  let isBusy = false;
  return {
    async send({ id, text, values }) {
      if (isBusy) await new Promise<void>((resolve) => waiting.push(resolve));
      isBusy = true;
      try {
        return (await client.query({ name: id, text, values: [...values] })).rowCount;
      } finally {
        const next = waiting.shift();
        // The next statement keeps the connection busy, so that none overtakes it.
        if (next === undefined) isBusy = false;
        else next();
      }
    },
    end: () => client.end(),
  };
}
