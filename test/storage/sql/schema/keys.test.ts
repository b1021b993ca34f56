import assert from 'node:assert/strict';
import type { DataSource } from 'typeorm';
import { testOnServer, testOnServers } from '../../../support/benches/server';
import { testOnEvery } from '../../../support/databases/fresh';
import { lockRows } from '../../../support/databases/lock-table';
import { OwnSession } from '../../../support/benches/own-session';
import { withRunStore } from '../../../support/benches/run-store';
import { FAILED, LIMIT, RUNNING } from '../../../support/jobs/runs';

const INDEX = { mysql: 'name(3)', mariadb: 'name(3)', postgres: 'left(name, 3)' };

testOnServers(
  'a row that violates only a further unique index is an error, not a held lock',
  async (bench) => {
    await bench.application.query(`CREATE UNIQUE INDEX beginnings ON shedlock (${INDEX[bench.server]})`);
    const provider = bench.provider();
    assert.ok(await provider.lock({ name: 'job-1', lockAtMostFor: '1m' }));
    for (let tick = 1; tick <= 2; tick += 1) {
      await assert.rejects(provider.lock({ name: 'job-2', lockAtMostFor: '1m' }), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
        message: /Could not insert lock 'job-2': it collides .* Drop any additional unique index/,
      });
    }
  },
);

const JOB = { name: 'job', lockAtMostFor: '1m' };

const NUMBERED = 'ALTER TABLE shedlock DROP PRIMARY KEY, ADD UNIQUE KEY (name), ADD COLUMN id BIGINT';
const RECREATED = [
  'DROP TABLE shedlock',
  `CREATE TABLE shedlock (
    name VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL UNIQUE,
    lock_until DATETIME(6) NOT NULL, locked_at DATETIME(6) NOT NULL,
    locked_by VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL,
    fencing_token BIGINT UNSIGNED NOT NULL DEFAULT 0)`,
];

interface Table {
  readonly table: string;
  readonly changes: readonly string[];
  readonly servers?: readonly ('mysql' | 'mariadb')[];
}

/**
 * On these tables MySQL replies to an INSERT with a number other than the token in
 * LAST_INSERT_ID(expression).
 */
const TABLES: readonly Table[] = [
  {
    table: 'an audit trigger',
    changes: [
      'CREATE TABLE audit (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR(64), token BIGINT)',
      ...['INSERT', 'UPDATE'].map(
        (event) => `CREATE TRIGGER audit_${event} AFTER ${event} ON shedlock FOR EACH ROW
          INSERT INTO audit (name, token) VALUES (NEW.name, NEW.fencing_token)`,
      ),
    ],
  },
  { table: 'an AUTO_INCREMENT key', changes: [`${NUMBERED} NOT NULL AUTO_INCREMENT PRIMARY KEY`] },
  {
    table: 'an AUTO_INCREMENT key whose numbers are as large as tokens',
    changes: [
      `${NUMBERED} NOT NULL AUTO_INCREMENT PRIMARY KEY`,
      'ALTER TABLE shedlock AUTO_INCREMENT = 9000000000000000',
    ],
  },
  { table: 'an invisible AUTO_INCREMENT key', changes: [`${NUMBERED} AUTO_INCREMENT INVISIBLE PRIMARY KEY`] },
  {
    table: 'an invisible key that the server has added',
    changes: ['SET SESSION sql_generate_invisible_primary_key = ON', ...RECREATED],
    servers: ['mysql'],
  },
];

for (const { table, changes, servers = ['mysql', 'mariadb'] as const } of TABLES)
  for (const server of servers)
    testOnServer(server, `tokens rise on a table with ${table} (P3, F-72)`, async (bench) => {
      const { application } = bench;
      const session = application.createQueryRunner();
      for (const change of changes) await session.query(change);
      await session.release();
      const tokens: number[] = [];
      for (const provider of [bench.provider(), bench.provider(), bench.provider()]) {
        // Each provider first tries to insert the row, because it does not know the name, and then takes it over.
        await application.query('DELETE FROM shedlock');
        for (let grant = 1; grant <= 2; grant += 1) {
          const lock = await provider.lock(JOB);
          assert.ok(lock?.fencingToken);
          tokens.push(lock.fencingToken);
          assert.deepEqual(await tokensIn(application), [lock.fencingToken]);
          assert.equal(await lock.unlock(), true);
        }
      }
      const rising = [...new Set(tokens)].sort((one, other) => one - other);
      assert.deepEqual(tokens, rising);
    });

async function tokensIn(application: DataSource): Promise<number[]> {
  return (await lockRows(application)).map(({ token }) => token);
}

testOnServer(
  'mysql',
  'the token is read from the row if the server hides its generated key (P3)',
  async (bench) => {
    const { application } = bench;
    const runner = application.createQueryRunner();
    for (const change of ['SET SESSION sql_generate_invisible_primary_key = ON', ...RECREATED])
      await runner.query(change);
    await runner.release();
    const session = bench.closeAtEnd(new OwnSession(application));
    await session.query('SET SESSION show_gipk_in_create_table_and_information_schema = OFF');
    const lock = await session.provider.lock(JOB);
    assert.deepEqual(await tokensIn(application), [lock?.fencingToken]);
  },
);

testOnEvery('a further unique index that blocks a run is an error, not an existing run', async (database) => {
  const changes = ['CREATE UNIQUE INDEX beginnings ON cronlatch_run (job_name, period_start)'];
  await withRunStore(database, { changes }, async ({ store }) => {
    assert.equal(await store.insert(RUNNING, LIMIT), true);
    assert.equal(await store.insert(RUNNING, LIMIT), false);
    for (const event of [undefined, FAILED]) {
      await assert.rejects(store.insert({ ...RUNNING, periodKey: 'other', event }, LIMIT), {
        code: 'CRONLATCH_SCHEMA_MISMATCH',
        message:
          /Could not write the run of job 'close-day' for other: it collides .* Drop any additional unique index/,
      });
    }
  });
});
