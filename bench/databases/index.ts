import type { DataSourceOptions } from 'typeorm';
import type { BareDatabase, BenchDatabase, Server } from './bench-database';
import { bareMysql, openMysql } from './mysql';
import { barePostgres, openPostgres } from './postgres';
import { openSqlite } from './sqlite';

/** Functions that open a database on a server, by the server's name. */
const DATABASES: Readonly<Record<string, (server: Server) => Promise<BenchDatabase>>> = {
  mysql: (server) => openMysql(server, 'mysql'),
  mariadb: (server) => openMysql(server, 'mariadb'),
  postgres: openPostgres,
  sqlite: openSqlite,
};

/** The servers that are measured by default, by name. */
export const SERVERS: readonly string[] = [...Object.keys(DATABASES), 'redis'];

export async function openDatabase(server: Server): Promise<BenchDatabase> {
  const open = DATABASES[server.name];
  if (open === undefined) throw new Error(`The bench does not support server '${server.name}'.`);
  return await open(server);
}

/** For another process than the one that has opened the database. */
export function attach(options: DataSourceOptions): BareDatabase {
  const { type, url } = options as { readonly type: string; readonly url?: string };
  if (url === undefined) throw new Error(`The bench cannot attach to a database of type '${type}'.`);
  return type === 'postgres' ? barePostgres(url) : bareMysql(url);
}
