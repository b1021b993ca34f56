import 'reflect-metadata';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';

/**
 * The database of the examples: embedded SQLite, or MySQL where `DATABASE_URL` names one
 * (`mysql://user:password@host:3306/database`). TypeORM's command line and `createJobGuard` read the same file.
 */
const url = process.env['DATABASE_URL'];
const migrations = [createCronlatchMigration({ tables: ['lock'] })];

export default new DataSource(
  url === undefined
    ? {
        type: 'better-sqlite3',
        database: process.env['DATABASE_FILE'] ?? 'cronlatch.sqlite',
        enableWAL: true,
        migrations,
      }
    : { type: 'mysql', url, migrations },
);
