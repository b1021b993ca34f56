/** Options of a pool that change the shape of results. */
import assert from 'node:assert/strict';
import { ClaimLostError } from 'cronlatch';
import * as mysqlDriver from 'cronlatch/mysql2';
import * as pgDriver from 'cronlatch/pg';
import mysql, { type PoolOptions } from 'mysql2/promise';
import pg, { type PoolConfig } from 'pg';
import { closing } from '../../support/benches/closing';
import { JOB } from '../../support/benches/transaction';
import { databaseOn, testOn } from '../../support/databases/fresh';

const QUIET = { pollInterval: false, logger: false } as const;

const OPTIONS: readonly PoolOptions[] = [
  { rowsAsArray: true },
  { nestTables: true },
  { nestTables: '_' },
  { typeCast: false },
  { typeCast: (field) => field.buffer() },
  { namedPlaceholders: true },
];

for (const kind of ['mysql', 'mariadb'] as const)
  for (const options of OPTIONS)
    testOn(kind, `${kind}: ${describe(options)} of the pool does not matter`, async () => {
      await using database = closing(await databaseOn(kind));
      await using pool = closing(mysql.createPool({ uri: database.url, ...options }));
      await mysqlDriver.createTables(pool);
      await using guard = closing(await mysqlDriver.createJobGuard(pool, QUIET));
      await guard.run(JOB, () => mysqlDriver.inRunTransaction(() => {}));
      assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
      const lost = guard.run({ ...JOB, name: 'lost' }, async () => {
        await database.ask(`UPDATE cronlatch_run SET attempt = attempt + 1 WHERE job_name = 'lost'`);
        await mysqlDriver.inRunTransaction(() => {});
      });
      await assert.rejects(lost, ClaimLostError);
    });

/** As the text that the server sends. */
const TEXTS: PoolConfig = { types: { getTypeParser: () => String } };
const POSTGRES_OPTIONS: readonly (PoolConfig & { readonly binary?: boolean })[] = [
  {},
  TEXTS,
  { binary: true },
];

for (const options of POSTGRES_OPTIONS)
  testOn(
    'postgres',
    `postgres: other parsers of pg and ${Object.keys(options).join()} of the pool do not matter`,
    async () => {
      await using database = closing(await databaseOn('postgres'));
      await using pool = closing(new pg.Pool({ connectionString: database.url, ...options }));
      pool.on('error', () => {}); // end() does not wait until the server has ended the sessions of its clients.
      const before = [16, 20, 23, 114].map(
        (oid) => [oid, pg.types.getTypeParser(oid) as (text: string) => unknown] as const,
      );
      try {
        for (const [oid] of before) pg.types.setTypeParser(oid, (text) => `<${text}>`);
        await pgDriver.createTables(pool);
        assert.deepEqual(await pgDriver.verifySchema(pool), []);
        await using guard = closing(await pgDriver.createJobGuard(pool, QUIET));
        await guard.run({ name: 'lock', lockAtMostFor: '1m', keepAlive: true }, () => {});
        await guard.run(JOB, () => pgDriver.inRunTransaction(() => {}));
        assert.equal((await guard.ledger.last(JOB.name))?.state, 'completed');
      } finally {
        for (const [oid, parser] of before) pg.types.setTypeParser(oid, parser);
      }
    },
  );

function describe(options: PoolOptions): string {
  return Object.entries(options)
    .map(([name, value]) => `${name}: ${typeof value === 'function' ? 'a function' : JSON.stringify(value)}`)
    .join(', ');
}
