import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import { closeDay as closeWithDrizzle } from '../../docs/query-builders/drizzle';
import { closeDay as closeWithKysely } from '../../docs/query-builders/kysely';
import { main } from '../../docs/query-builders/main';
import { postgresPool } from '../../support/databases/postgres';
import { runOnce, testModule, testPage } from '../page-test';

testPage('Knex', main);

testPage('Kysely', async (url) => {
  const dialect = new PostgresDialect({ pool: postgresPool({ connectionString: url }) });
  const db = new Kysely<{ closings: { day: string | undefined } }>({ dialect });
  await runOnce(url, () => closeWithKysely(db));
  await db.destroy();
});

testPage('Drizzle', async (url) => {
  const pool = postgresPool({ connectionString: url });
  await runOnce(url, () => closeWithDrizzle(drizzle({ client: pool })));
  await pool.end();
});

testModule('Drizzle', () => import('../../docs/query-builders/drizzle.module.js'));
