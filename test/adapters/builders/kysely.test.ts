import { CamelCasePlugin, Kysely, MysqlDialect, PostgresDialect, sql } from 'kysely';
import { createPool } from 'mysql2';
import { adapt } from '../../docs/query-builders/kysely';
import { postgresPool } from '../../support/databases/postgres';
import { testBuilder } from '../builder-tests';

interface Tables {
  readonly effects: { readonly id: number; readonly text: string };
}

testBuilder('kysely', (url, server) => {
  const dialect =
    server === 'postgres'
      ? new PostgresDialect({ pool: postgresPool({ connectionString: url }) })
      : new MysqlDialect({ pool: createPool(url.replace(/^mariadb:/, 'mysql:')) });
  const db = new Kysely<Tables>({ dialect, plugins: [new CamelCasePlugin()] });
  return {
    transaction: (work) =>
      db.transaction().execute((trx) =>
        work({
          adapted: adapt(trx),
          insert: (id, text) => trx.insertInto('effects').values({ id, text }).execute(),
          commitBehind: () => sql`COMMIT`.execute(trx),
        }),
      ),
    outside: adapt(db as never),
    close: () => db.destroy(),
  };
});
