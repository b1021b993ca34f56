import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';

export default new DataSource({
  type: 'mysql', // Or 'mariadb', or 'postgres' with the driver pg.
  url: process.env['DATABASE_URL'] ?? 'mysql://app:secret@localhost:3306/app',
  migrations: [createCronlatchMigration()], // Creates cronlatch's tables.
});
