import { createCronlatchMigration } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';

export default new DataSource({
  type: 'mysql',
  url: process.env['DATABASE_URL'] ?? 'mysql://app:secret@localhost:3306/app',
  migrations: [createCronlatchMigration()],
});
