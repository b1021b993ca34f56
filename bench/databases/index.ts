import type { BenchDatabase, Server } from './bench-database';
import { openMysql } from './mysql';
import { openPostgres } from './postgres';
import { openSqlite } from './sqlite';

/** Functions that open a database on a server, by the server's name. */
export const DATABASES: Readonly<Record<string, (server: Server) => Promise<BenchDatabase>>> = {
  mysql: (server) => openMysql(server, 'mysql'),
  mariadb: (server) => openMysql(server, 'mariadb'),
  postgres: openPostgres,
  sqlite: openSqlite,
};

export async function openDatabase(server: Server): Promise<BenchDatabase> {
  const open = DATABASES[server.name];
  if (open === undefined) throw new Error(`The bench does not support server '${server.name}'.`);
  return await open(server);
}
