import assert from 'node:assert/strict';
import { closing } from '../../support/benches/closing';
import { testOnOwnServers } from '../../support/benches/own-server';
import { OwnSession } from '../../support/benches/own-session';
import { withChangedTable } from '../../support/databases/changed-table';
import { testWith, type TestDatabase } from '../../support/databases/fresh';
import { lockRows, migratedDataSource } from '../../support/databases/lock-table';
import { CheckedLockProvider } from '../../support/stores/checked-lock-provider';
import { ledgerDataSource } from '../../support/databases/run-tables';
import { LIMIT, PENDING } from '../../support/jobs/runs';

const JOB = { name: 'job', lockAtMostFor: '10m' } as const;

async function withOwnSession(
  database: TestDatabase,
  body: (session: OwnSession, runOnce: () => Promise<void>) => Promise<void>,
): Promise<void> {
  await using dataSource = closing(await migratedDataSource(database));
  await using session = closing(new OwnSession(dataSource));
  const runOnce = async (): Promise<void> => {
    const lock = await session.provider.lock(JOB);
    assert.ok(lock?.fencingToken);
    assert.equal(await lock.unlock(), true);
  };
  await body(session, runOnce);
}

async function preparedNames(session: OwnSession): Promise<string[]> {
  const rows = await session.query<{ name: string }>('SELECT name FROM pg_prepared_statements ORDER BY name');
  return rows.map(({ name }) => name);
}

testWith('postgres', 'statements are prepared once, by names that show their owner', (database) =>
  withOwnSession(database, async (session, runOnce) => {
    await runOnce();
    const names = await preparedNames(session);
    assert.equal(names.length, 3, 'take over, insert, unlock, but not the inspection of the table');
    for (const name of names) assert.match(name, /^cronlatch_[0-9a-f]{24}$/);
    await runOnce();
    await runOnce();
    assert.deepEqual(await preparedNames(session), names);
  }),
);

testWith('postgres', 'statements that a pooler has forgotten are sent unprepared (F-53)', (database) =>
  withOwnSession(database, async (session, runOnce) => {
    await runOnce();
    for (const forget of ['DEALLOCATE ALL', 'DISCARD ALL']) {
      await session.query(forget);
      await runOnce();
      assert.deepEqual(await preparedNames(session), [], 'and later ones too');
    }
  }),
);

testWith('postgres', 'statements whose names are already in use are sent unprepared (F-53)', (database) =>
  withOwnSession(database, async (session, runOnce) => {
    await runOnce();
    const names = await preparedNames(session);
    await withOwnSession(database, async (another, runThere) => {
      for (const name of names) await another.query(`PREPARE "${name}" AS SELECT 'not the lock'`);
      await runThere();
      await runThere();
    });
  }),
);

testWith(
  'postgres',
  'statements prepared for a table that has changed are sent unprepared',
  async (database) => {
    await withChangedTable(database, [], {}, async ({ dataSource, provider }) => {
      const first = await provider.lock(JOB);
      assert.equal(await first?.unlock(), true);
      await (await provider.lock(JOB))?.unlock();
      await dataSource.query('ALTER TABLE shedlock ALTER COLUMN fencing_token TYPE numeric');
      const lock = await provider.lock(JOB);
      assert.ok((lock?.fencingToken ?? 0) > (first?.fencingToken ?? Infinity));
      assert.equal(await provider.lock(JOB), undefined);
      assert.equal(await lock?.unlock(), true);
    });
  },
);

for (const server of ['mysql', 'mariadb'] as const) {
  testWith(server, 'statements are prepared once, and executed from then on', (database) =>
    withOwnSession(database, async (session, runOnce) => {
      const counts = async (): Promise<Record<string, number>> => {
        const rows = await session.query<{ Variable_name: string; Value: string }>(
          `SHOW SESSION STATUS WHERE Variable_name IN ('Com_stmt_prepare', 'Com_stmt_execute')`,
        );
        return Object.fromEntries(rows.map((row) => [row.Variable_name, Number(row.Value)]));
      };
      await runOnce();
      assert.deepEqual(await counts(), { Com_stmt_prepare: 3, Com_stmt_execute: 3 });
      await runOnce();
      await runOnce();
      assert.deepEqual(await counts(), { Com_stmt_prepare: 3, Com_stmt_execute: 7 });
    }),
  );
}

const QUOTED = [
  ...[`it's`, `it''s`, `a\\'b`, 'a\\b', 'a"b', `' OR '' = '`, `\\' OR 1 = 1 -- x`],
  ...['jöb', '😀', '?', '0'],
];

testOnOwnServers(
  'if the server has no room for prepared statements, locks work all the same, with any name (F-53)',
  async (bench) => {
    const root = await bench.administrator();
    await root.query('SET GLOBAL max_prepared_stmt_count = 0');
    // Here a backslash is an ordinary character, and the server truncates long texts.
    await root.query(`SET GLOBAL sql_mode = 'NO_BACKSLASH_ESCAPES'`);
    const provider = bench.closeAtEnd(new CheckedLockProvider(bench.dataSource()));
    assert.deepEqual(await provider.verifySchema(), []);
    for (const name of QUOTED) {
      const lock = await provider.lock({ ...JOB, name });
      assert.ok(lock?.fencingToken, name);
      assert.equal(await provider.lock({ ...JOB, name }), undefined, name);
      assert.equal(await lock.extend('20m'), true, name);
      assert.equal(await lock.unlock(), true, name);
    }
    const rows = await lockRows(bench.application);
    assert.deepEqual(rows.map(({ name }) => name).sort(), QUOTED.sort());
  },
  ['mysql', 'mariadb'],
);

/** The number of statements that a session has prepared. */
const PREPARED = {
  mysql: `SELECT COUNT(*) AS prepared FROM performance_schema.prepared_statements_instances
    WHERE owner_thread_id = PS_CURRENT_THREAD_ID()`,
  // PREPARED_STMT_COUNT would be that of the whole server, including other tests.
  mariadb: `SELECT SUM(IF(VARIABLE_NAME = 'COM_STMT_PREPARE', 1, -1) * VARIABLE_VALUE) AS prepared
    FROM information_schema.SESSION_STATUS WHERE VARIABLE_NAME IN ('COM_STMT_PREPARE', 'COM_STMT_CLOSE')`,
  postgres: 'SELECT COUNT(*) AS prepared FROM pg_prepared_statements',
};

for (const server of ['mysql', 'mariadb', 'postgres'] as const)
  testWith(
    server,
    'lists of hundreds of lengths leave only a few prepared statements on the server',
    async (database) => {
      await using application = closing(await ledgerDataSource(database));
      await using session = closing(new OwnSession(application));
      const { runs } = session;
      const prepared = async (): Promise<number> =>
        Number((await session.query<{ prepared: unknown }>(PREPARED[server]))[0]?.prepared);
      for (let run = 0; run < 5; run += 1) await runs.insert({ ...PENDING, periodKey: `${run}` }, LIMIT);
      const found = async (limit: number): Promise<number> =>
        (await runs.find({ order: 'oldest-first', limit }, LIMIT)).length;
      const before = await prepared();
      assert.deepEqual([await found(0), await found(1), await found(3), await found(5)], [0, 1, 3, 5]);
      for (let limit = 6; limit <= 300; limit += 1) assert.equal(await found(limit), 5);
      const more = (await prepared()) - before;
      assert.ok(more > 0 && more <= 11, `${more} more statements are prepared`);
    },
  );
