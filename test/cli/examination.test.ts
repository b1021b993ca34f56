import assert from 'node:assert/strict';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { createJobGuard } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import type { Finding } from '#cronlatch/storage/sql/connections/finding';
import { closing } from '../support/benches/closing';
import { codesOf, examined, examinedAll } from '../support/benches/doctor';
import {
  databaseOn,
  SERVER_NAMES,
  testOnEveryServer,
  testOnEvery,
  testWith,
} from '../support/databases/fresh';
import { ledgerDataSource } from '../support/databases/run-tables';
import { withUser } from '../support/databases/user';

testOnEvery('the tables of the migrations are in order', async (database) => {
  await (await ledgerDataSource(database)).destroy();
  const { findings, fine } = await examined(database.options);
  assert.deepEqual(findings, []);
  assert.ok(fine.includes('tables and privileges'));
});

testOnEvery('without tables, the lock table is an error, and the others are warnings', async (database) => {
  const { environment, options } = database;
  if (environment['DATABASE_FILE'] !== undefined)
    await (await new DataSource(options).initialize()).destroy();
  const { findings } = await examined(options);
  const codes = ['error missing-table', ...Array<string>(6).fill('warning missing-table')];
  assert.deepEqual(codesOf(findings), codes);
  assert.match(findings[0]?.problem ?? '', /^Table 'shedlock' in .+ is missing, .+ no access to it\.$/);
  assert.equal(findings[0]?.fix, 'Create what is missing with npx cronlatch init.');
});

testWith('sqlite', 'a problem of a table is reported with the statement that fixes it', async (database) => {
  const dataSource = await ledgerDataSource(database);
  await dataSource.query('DROP INDEX uq_cronlatch_run');
  const { findings } = await examined(database.options);
  assert.deepEqual(codesOf(findings), ['error runs-not-unique']);
  const [{ problem = '', fix, statement = '' } = {}] = findings;
  assert.match(problem, /^Table 'cronlatch_run' in SQLite .+ has no unique index on .+ same period\.$/);
  assert.equal(fix, 'Run this statement:');
  await dataSource.query(statement);
  await dataSource.destroy();
  assert.deepEqual((await examined(database.options)).findings, []);
});

/** What the guard's own connection to a SQLite file finds. */
const SQLITE_SETTINGS: readonly (readonly [pragma: string, found: string])[] = [
  ['journal_mode = DELETE', 'warning rollback-mode'],
  ['synchronous = OFF', 'error not-durable'],
  ['synchronous = NORMAL', 'info unsynced-commit'],
];

for (const [pragma, code] of SQLITE_SETTINGS)
  testWith('sqlite', `a file with ${pragma} is reported`, async (database) => {
    await (await ledgerDataSource(database)).destroy();
    const prepareDatabase = (handle: { pragma: (text: string) => unknown }) => handle.pragma(pragma);
    const { findings } = await examinedAll({ ...database.options, prepareDatabase } as DataSource['options']);
    assert.deepEqual(codesOf(findings), [code]);
  });

/** Settings of a database of PostgreSQL, with what is found. */
const POSTGRES_SETTINGS: readonly (readonly [setting: string, code: string, problem: RegExp])[] = [
  ['synchronous_commit = off', 'error not-durable', /^synchronous_commit is off, so /],
  ['default_transaction_read_only = on', 'error read-only', /because default_transaction_read_only is on/],
];

for (const [setting, code, problem] of POSTGRES_SETTINGS)
  testWith('postgres', `a database with ${setting} is reported`, async (database) => {
    const dataSource = await ledgerDataSource(database);
    const name = new URL(database.environment['DATABASE_URL'] ?? '').pathname.slice(1);
    await dataSource.query(`ALTER DATABASE ${name} SET ${setting}`);
    await dataSource.destroy();
    const { findings } = await examinedAll(database.options);
    assert.deepEqual(codesOf(findings.filter((each) => problem.test(each.problem))), [code]);
  });

const LEDGER = [
  ...['cronlatch_run', 'cronlatch_run_event', 'cronlatch_job', 'cronlatch_run_act', 'cronlatch_run_notice'],
  'cronlatch_run_log',
];

testOnEveryServer(
  'privileges that a user lacks are reported with statements that grant them',
  async (server) => {
    await using database = closing(await databaseOn(server));
    await (await ledgerDataSource(database)).destroy();
    await withUser(server, database, async ({ account, url }) => {
      for (const table of ['shedlock', ...LEDGER])
        await database.ask(`GRANT SELECT, INSERT ON ${table} TO ${account}`);
      const { findings } = await examined({ type: server, url });
      const sequence = (table: string) =>
        server === 'postgres' ? [['missing-privilege', 'USAGE', `public.${table}_id_seq`, account]] : [];
      assert.deepEqual(findings.map(lackOf), [
        ['missing-privilege', 'UPDATE', 'shedlock', account],
        ['missing-privilege', 'UPDATE', 'cronlatch_run', account],
        ...sequence('cronlatch_run'),
        ...sequence('cronlatch_run_event'),
        ['missing-privilege', 'UPDATE', 'cronlatch_job', account],
        ['missing-privilege', 'UPDATE', 'cronlatch_run_act', account],
        ['missing-privilege', 'UPDATE', 'cronlatch_run_notice', account],
        ...sequence('cronlatch_run_log'),
      ]);
      for (const { statement = '' } of findings) await database.ask(statement);
      assert.deepEqual((await examined({ type: server, url })).findings, []);
    });
  },
);

function lackOf({ code, problem, statement = '' }: Finding): (string | undefined)[] {
  const [, privileges, table] = /lacks the privilege (.+) on (?:table|sequence) '(.+)'/.exec(problem) ?? [];
  return [code, privileges, table, / TO (.+)$/.exec(statement)?.[1]];
}

for (const server of SERVER_NAMES)
  testWith(server, 'a difference of the clocks is reported (F-22)', async (database, t) => {
    await (await ledgerDataSource(database)).destroy();
    const now = Date.now.bind(Date);
    for (const [aheadMs, code] of [
      [30_000, 'warning clock-offset'],
      [-600_000, 'error clock-wrong'],
    ] as const) {
      const { mock } = t.mock.method(Date, 'now', () => now() + aheadMs);
      const { findings } = await examined(database.options);
      mock.restore();
      assert.deepEqual(codesOf(findings), [code]);
    }
  });

testWith('sqlite', 'locks of another store are not examined with the database', async (database) => {
  const dataSource = await ledgerDataSource(database);
  await dataSource.query('DROP TABLE shedlock');
  await dataSource.destroy();
  const lockProvider = new InMemoryLockProvider();
  const { findings, notExamined } = await examined(database.options, { lockProvider });
  assert.deepEqual([findings, notExamined], [[], ['lock store']]);
});

testWith('sqlite', 'a store of locks that cannot be reached is an error', async (database) => {
  await (await ledgerDataSource(database)).destroy();
  const lockProvider = {
    lock: () => Promise.resolve(undefined),
    probe: () => Promise.reject(new Error('connect ECONNREFUSED')),
  };
  const [finding, ...others] = (await examined(database.options, { lockProvider })).findings;
  assert.deepEqual([finding?.code, finding?.severity, others], ['not-examined', 'error', []]);
  assert.equal(finding?.problem, 'Could not examine the lock store: connect ECONNREFUSED');
});

testWith('sqlite', 'a database in memory is examined on the connection of the application', async () => {
  const options = { type: 'better-sqlite3', database: ':memory:' } as const;
  const dataSource = await ledgerDataSource({ options });
  const guard = await createJobGuard(dataSource, { logger: false });
  const { examine } = await import('#cronlatch/cli/commands/doctor');
  const all = await examine(guard);
  await guard.close();
  await dataSource.destroy();
  assert.deepEqual(
    all.map(({ topic, findings }) => [topic, findings?.length]),
    [['tables and privileges', 0]],
  );
});
