import knex from 'knex';
import { fromKnex } from 'cronlatch/adapters';
import { testBuilder, type Builder } from '../builder-tests';

function openKnex(url: string, client: 'mysql2' | 'pg'): Builder {
  const db = knex({ client, connection: url, postProcessResponse: withCamelCase });
  return {
    transaction: (work) =>
      db.transaction((trx) =>
        work({
          adapted: fromKnex(trx),
          insert: async (id, text) => await trx('effects').insert({ id, text }),
          commitBehind: async () => await trx.raw('COMMIT'),
        }),
      ),
    outside: fromKnex(db),
    close: () => db.destroy(),
  };
}

testBuilder('knex', (url, server) => openKnex(url, server === 'postgres' ? 'pg' : 'mysql2'));

/** As applications convert the names of columns, in answers of both drivers. */
function withCamelCase(answer: unknown): unknown {
  if (Array.isArray(answer)) return answer.map(withCamelCase);
  if (typeof answer !== 'object' || answer === null || answer instanceof Date) return answer;
  const members = Object.entries(answer).map(([name, value]) => [
    name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
    name === 'rows' ? withCamelCase(value) : (value as unknown),
  ]);
  return Object.fromEntries(members);
}
