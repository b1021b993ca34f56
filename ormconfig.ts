import 'reflect-metadata';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';

/**
 * The database of the examples: embedded SQLite, or the server that `DATABASE_URL` names, as
 * `mysql://user:password@host:3306/database`, `mariadb://…` or `postgres://…`. TypeORM's command line and
 * `createJobGuard` read the same file.
 */
const url = process.env['DATABASE_URL'];
const migrations = [createCronlatchMigration()];

export default new DataSource(
  url === undefined
    ? {
        type: 'better-sqlite3',
        database: process.env['DATABASE_FILE'] ?? 'cronlatch.sqlite',
        enableWAL: true,
        migrations,
      }
    : { type: serverType(url), url, migrations },
);

function serverType(address: string): 'mysql' | 'mariadb' | 'postgres' {
  const type = new URL(address).protocol.slice(0, -1);
  if (type === 'mysql' || type === 'mariadb' || type === 'postgres') return type;
  throw new Error(`DATABASE_URL begins with ${type}: use mysql, mariadb or postgres.`);
}
