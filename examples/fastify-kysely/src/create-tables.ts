import { sql } from 'kysely';
import { db } from './database.js';

await db.schema
  .createTable('closing')
  .ifNotExists()
  .addColumn('business_date', 'text', (column) => column.primaryKey())
  .addColumn('closed_at', 'timestamptz', (column) => column.notNull().defaultTo(sql`now()`))
  .execute();
await db.destroy();
