import { randomBytes } from 'node:crypto';
import { createConnection as createCallbackConnection, type ResultSetHeader } from 'mysql2';
import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { mysql } from '#cronlatch/storage/sql/dialects/mysql';
import { openBaseline, type BareConnection } from './baseline';
import type { BenchDatabase, Server } from './bench-database';
import { checkDurable } from './durability';

const DURABLE = { innodb_flush_log_at_trx_commit: '1' };

/** MySQL and MariaDB. */
export async function openMysql(server: Server, type: 'mysql' | 'mariadb'): Promise<BenchDatabase> {
  const root = await createConnection({ uri: server.url });
  try {
    // The bench does not change a server that the environment names.
    if (server.origin !== 'environment') await root.query('SET GLOBAL innodb_flush_log_at_trx_commit = 1');
    const durability = checkDurable(server, DURABLE, await settingsOf(root));
    const name = `cronlatch_bench_${randomBytes(6).toString('hex')}`;
    await root.query(`CREATE DATABASE ${name}`);
    const url = new URL(server.url);
    url.pathname = `/${name}`;
    return {
      options: { type, url: url.href },
      durability,
      openBaseline: async () => openBaseline(await connect(url.href), mysql, 'UTC_TIMESTAMP(6)'),
      countConnections: () => countConnections(root, name),
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

async function settingsOf(root: Connection): Promise<Record<string, string>> {
  const show = 'SHOW GLOBAL VARIABLES WHERE Variable_name IN (?)';
  const [rows] = await root.query<RowDataPacket[]>(show, [Object.keys(DURABLE)]);
  return Object.fromEntries(rows.map((row) => [String(row['Variable_name']), String(row['Value'])]));
}

async function countConnections(root: Connection, database: string): Promise<number> {
  const select = 'SELECT COUNT(*) AS connections FROM information_schema.processlist WHERE db = ?';
  const [rows] = await root.query<RowDataPacket[]>(select, [database]);
  return Number(rows[0]?.['connections']);
}

/**
 * Uses the callback API, because the cost of mysql2's promises is not part of the baseline. The sessions have
 * the settings of the library's.
 */
async function connect(uri: string): Promise<BareConnection> {
  const connection = createCallbackConnection({ uri });
  await connection.promise().query('SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED');
  return {
    write: ({ text, values }) =>
      new Promise((resolve, reject) => {
        connection.execute<ResultSetHeader>(text, [...values], (error, result) =>
          error ? reject(error) : resolve(result.affectedRows),
        );
      }),
    end: () => connection.promise().end(),
  };
}
