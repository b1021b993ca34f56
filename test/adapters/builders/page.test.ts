import { drizzle } from 'drizzle-orm/node-postgres';
import { Kysely, PostgresDialect } from 'kysely';
import { Pool } from 'pg';
import { closeDay as closeWithDrizzle } from '../../docs/query-builders/drizzle';
import { closeDay as closeWithKysely } from '../../docs/query-builders/kysely';
import { main } from '../../docs/query-builders/main';
import { runOnce, testPage } from '../page-test';

testPage('Knex', main);

testPage('Kysely', async (url) => {
  const dialect = new PostgresDialect({ pool: new Pool({ connectionString: url }) });
  const db = new Kysely<{ closings: { day: string | undefined } }>({ dialect });
  await runOnce(url, () => closeWithKysely(db));
  await db.destroy();
});

testPage('Drizzle', async (url) => {
  const pool = new Pool({ connectionString: url });
  await runOnce(url, () => closeWithDrizzle(drizzle({ client: pool })));
  await pool.end();
});
