import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';

/** The tables that a guard needs, and that of the requests of operators. */
const NEEDED = ['lock', 'ledger', 'jobs'] as const;
export const ALL_TABLES = [...NEEDED, 'operations'] as const;

/** Creates the tables of locks and runs, as an application does before it starts. */
export async function migrate(
  options: DataSourceOptions,
  tables: readonly (typeof ALL_TABLES)[number][] = NEEDED,
): Promise<void> {
  const migrations = tables.map((table) => createCronlatchMigration({ tables: [table] }));
  const dataSource = new DataSource({ ...options, migrations });
  await dataSource.initialize();
  try {
    await dataSource.runMigrations();
  } finally {
    await dataSource.destroy();
  }
}
