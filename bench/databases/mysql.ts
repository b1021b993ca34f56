import { randomBytes } from 'node:crypto';
import { createConnection as createCallbackConnection, type ResultSetHeader } from 'mysql2';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import type { BareConnection, BareDatabase, BenchDatabase, Counters, Server } from './bench-database';
import { checkDurable } from './durability';

const DURABLE = { innodb_flush_log_at_trx_commit: '1' };

/** MySQL and MariaDB. */
export async function openMysql(server: Server, type: 'mysql' | 'mariadb'): Promise<BenchDatabase> {
  const root = await createConnection({ uri: server.url });
  try {
    // The bench does not change a server that the environment names.
    if (server.origin !== 'environment') await root.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
    const durability = checkDurable(
      server,
      DURABLE,
      await variables(root, 'VARIABLES', Object.keys(DURABLE)),
    );
    const name = `cronlatch_bench_${randomBytes(6).toString('hex')}`;
    await root.query(`CREATE DATABASE ${name}`);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return {
      options: { type, url: url.href },
      durability,
      ...bareMysql(url.href),
      counters: countersOf(root, name),
      async [Symbol.asyncDispose]() {
        await root.query(`DROP DATABASE ${name}`);
        await root.end();
      },
    };
  } catch (error) {
    root.destroy();
    throw error;
  }
}

export function bareMysql(url: string): BareDatabase {
  return { dialect: mysql, shape: { now: 'UTC_TIMESTAMP(6)' }, connect: () => connect(url) };
}

async function variables(
  root: Connection,
  kind: 'VARIABLES' | 'STATUS',
  names: readonly string[],
): Promise<Record<string, string>> {
  const show = `SHOW GLOBAL ${kind} WHERE Variable_name IN (?)`;
  const [rows] = await root.query<RowDataPacket[]>(show, [names]);
  return Object.fromEntries(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
}

/** Questions are the statements of clients, prepared or not. Preparing one does not count. Handler_commit includes reads. */
function countersOf(root: Connection, database: string): Counters {
  const connections = 'SELECT COUNT(*) AS connections FROM information_schema.processlist WHERE db = ?';
  let ownQuestions = 0;
  return {
    async count() {
      const found = await variables(root, 'STATUS', ['Questions', 'Handler_commit']);
      ownQuestions += 1;
      return {
        statements: Number(found['Questions']) - ownQuestions,
        commits: Number(found['Handler_commit']),
      };
    },
    async countConnections() {
      const [rows] = await root.query<RowDataPacket[]>(connections, [database]);
      ownQuestions += 1;
      return Number(rows[0]?.['connections']);
    },
  };
}

/**
 * Uses the callback API, because the cost of mysql2's promises is not part of the baseline. The sessions have
 * the settings of the library's.
 */
async function connect(uri: string): Promise<BareConnection> {
  const connection = createCallbackConnection({ uri });
  await connection.promise().query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  return {
    send: ({ text, values }) =>
      new Promise((resolve, reject) => {
        connection.execute<ResultSetHeader | RowDataPacket[]>(text, [...values], (error, result) =>
          error ? reject(error) : resolve(Array.isArray(result) ? result.length : result.affectedRows),
        );
      }),
    end: () => connection.promise().end(),
  };
}
