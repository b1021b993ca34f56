import { sql } from 'drizzle-orm';
import { drizzle as drizzleMysql } from 'drizzle-orm/mysql2';
import { int, mysqlTable, varchar as mysqlVarchar } from 'drizzle-orm/mysql-core';
import { drizzle as drizzlePostgres } from 'drizzle-orm/node-postgres';
import { integer, pgTable, varchar } from 'drizzle-orm/pg-core';
import { createPool } from 'mysql2/promise';
import { adapt } from '../../docs/query-builders/drizzle';
import { postgresPool } from '../../support/databases/postgres';
import { testBuilder, type Builder } from '../builder-tests';

const ON_MYSQL = mysqlTable('effects', {
  id: int().primaryKey(),
  text: mysqlVarchar({ length: 200 }).notNull(),
});
const ON_POSTGRES = pgTable('effects', {
  id: integer().primaryKey(),
  text: varchar({ length: 200 }).notNull(),
});

function openMysql(url: string): Builder {
  const pool = createPool(url.replace(/^mariadb:/, 'mysql:'));
  const db = drizzleMysql({ client: pool });
  return {
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          adapted: adapt(tx),
          insert: (id, text) => tx.insert(ON_MYSQL).values({ id, text }),
          commitBehind: () => tx.execute(sql`COMMIT`),
        }),
      ),
    outside: adapt(db),
    close: () => pool.end(),
  };
}

function openPostgres(url: string): Builder {
  const pool = postgresPool({ connectionString: url });
  const db = drizzlePostgres({ client: pool });
  return {
    transaction: (work) =>
      db.transaction((tx) =>
        work({
          adapted: adapt(tx),
          insert: async (id, text) => await tx.insert(ON_POSTGRES).values({ id, text }),
          commitBehind: async () => await tx.execute(sql`COMMIT`),
        }),
      ),
    outside: adapt(db),
    close: () => pool.end(),
  };
}

testBuilder('drizzle', (url, server) => (server === 'postgres' ? openPostgres(url) : openMysql(url)));
