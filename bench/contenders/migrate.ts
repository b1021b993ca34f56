import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource, type DataSourceOptions } from 'typeorm';

/** Creates the tables of locks and runs, as an application does before it starts. */
export async function migrate(options: DataSourceOptions): Promise<void> {
  const migrations = [
    createCronlatchMigration({ tables: ['lock'] }),
    createCronlatchMigration({ tables: ['ledger'] }),
    createCronlatchMigration({ tables: ['jobs'] }),
  ];
  const dataSource = new DataSource({ ...options, migrations });
  await dataSource.initialize();
  try {
    await dataSource.runMigrations();
  } finally {
    await dataSource.destroy();
  }
}
