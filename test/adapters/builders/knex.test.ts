import knex from 'knex';
import { adapt } from '../../docs/query-builders/knex';
import { testBuilder, type Builder } from '../builder-tests';

function openKnex(url: string, client: 'mysql2' | 'pg'): Builder {
  const db = knex({ client, connection: url });
  return {
    transaction: (work) =>
      db.transaction((trx) =>
        work({
          adapted: adapt(trx),
          insert: async (id, text) => await trx('effects').insert({ id, text }),
          commitBehind: async () => await trx.raw('COMMIT'),
        }),
      ),
    outside: adapt(db as never),
    close: () => db.destroy(),
  };
}

testBuilder('knex', (url, server) => openKnex(url, server === 'postgres' ? 'pg' : 'mysql2'));
