import type { BenchDatabase, Server } from './bench-database';
import { openMysql } from './mysql';
import { openPostgres } from './postgres';

/** Functions that open a database on a server, by the server's name. */
export const DATABASES: Readonly<Record<string, (server: Server) => Promise<BenchDatabase>>> = {
  mysql: (server) => openMysql(server, 'mysql'),
  mariadb: (server) => openMysql(server, 'mariadb'),
  postgres: openPostgres,
};
