import { createConnection, type Connection, type RowDataPacket } from 'mysql2/promise';
import { urlOn } from '../servers/running';
import { freshName, type ServerDatabase } from './types';

export type MysqlDatabase = ServerDatabase<Connection>;

export function mysqlDatabase(): Promise<MysqlDatabase> {
  return databaseOfFamily('mysql');
}

/** In the server's default collation. */
export function mariadbDatabase(): Promise<MysqlDatabase> {
  return databaseOfFamily('mariadb');
}

async function databaseOfFamily(type: 'mysql' | 'mariadb'): Promise<MysqlDatabase> {
  const name = freshName();
  const root = await createConnection({ uri: urlOn(type) });
  await root.query(`CREATE DATABASE ${name}`);
  await root.query(`USE ${name}`);
  const url = urlOn(type, name);
  return {
    name,
    url,
    root,
    ask: async (statement) => (await root.query<RowDataPacket[]>(statement))[0],
    options: { type, url },
    environment: { DATABASE_URL: url },
    async dispose() {
      await root.query(`DROP DATABASE ${name}`);
      await root.end();
    },
  };
}
