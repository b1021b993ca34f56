import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';

if (!process.env['DATABASE_URL']) throw new Error('Set DATABASE_URL: mysql://user:password@host/database');
export default new DataSource({
  type: 'mysql', // Or 'mariadb', or 'postgres' with the driver pg.
  url: process.env['DATABASE_URL'],
  migrations: [createCronlatchMigration()], // Creates cronlatch's tables.
});
