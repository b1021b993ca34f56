import assert from 'node:assert/strict';
import { createJobGuard } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { closing } from '../../../support/benches/closing';
import { codesOf, examined, examinedAll, warningsAtStart } from '../../../support/benches/doctor';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { testWith, type ServerName } from '../../../support/databases/fresh';
import { ledgerDataSource } from '../../../support/databases/run-tables';
import { pgbouncerBefore } from '../../../support/servers/own';
import { withStarted } from '../../../support/servers/test-on';

/** Settings of a server that keeps every commit, and of one that does not. */
const DURABILITY: Readonly<
  Record<ServerName, readonly [safe: readonly string[], unsafe: readonly string[]]>
> = {
  mysql: [
    ['SET GLOBAL innodb_flush_log_at_trx_commit = 1'],
    ['SET GLOBAL innodb_flush_log_at_trx_commit = 2'],
  ],
  mariadb: [
    ['SET GLOBAL innodb_flush_log_at_trx_commit = 1'],
    ['SET GLOBAL innodb_flush_log_at_trx_commit = 2'],
  ],
  postgres: [
    ['ALTER SYSTEM SET fsync = on', 'SELECT pg_reload_conf()'],
    ['ALTER SYSTEM SET synchronous_commit = off', 'SELECT pg_reload_conf()'],
  ],
};

testOnOwnServers('a server is in order only if it keeps every commit (F-32)', async (bench) => {
  const [safe, unsafe] = DURABILITY[bench.type];
  const root = await bench.administrator();
  await createLedger(bench.application.options);
  for (const statement of safe) await root.query(statement);
  assert.deepEqual((await examinedAll(bench.application.options)).findings, []);
  for (const statement of unsafe) await root.query(statement);
  assert.deepEqual(codesOf((await examinedAll(bench.application.options)).findings), ['error not-durable']);
});

testOnOwnServers('a server that accepts no writes is reported (F-37)', async (bench) => {
  await createLedger(bench.application.options);
  await bench.demote();
  assert.deepEqual(codesOf((await examined(bench.application.options)).findings), ['error read-only']);
});

async function createLedger(options: DataSource['options']): Promise<void> {
  await (await ledgerDataSource({ options })).destroy();
}

type Mode = 'transaction' | 'statement';

/** A test of an application on a database with all tables, behind PgBouncer. */
function testBehindPgbouncer(
  mode: Mode,
  name: string,
  body: (application: DataSource) => Promise<void>,
): void {
  testWith('postgres', `behind PgBouncer in ${mode} mode, ${name}`, async (database, t) => {
    await (await ledgerDataSource(database)).destroy();
    const url = new URL(database.environment['DATABASE_URL'] ?? '');
    const start = () => pgbouncerBefore(url.href, mode);
    await withStarted(t, 'pgbouncer', start, async (pooler) => {
      url.port = new URL(pooler.url).port;
      const through = { type: 'postgres', url: url.href } as const;
      await using application = closing(await new DataSource(through).initialize());
      await body(application);
      assert.deepEqual(await settingsOf(application), DEFAULTS);
    });
  });
}

for (const mode of ['transaction', 'statement'] as const)
  testBehindPgbouncer(mode, 'the guard sets nothing', async ({ options }) => {
    const { findings, notExamined } = await examined(options);
    assert.deepEqual([codesOf(findings), notExamined], [['warning pooler'], []]);
    const starting = await warningsAtStart(options);
    assert.equal(starting.length, 1, 'the start warns as the examination does');
    assert.match(
      starting[0] ?? '',
      /guard:warning: A pooler gives the sessions .+ Use a direct address\. Otherwise nothing/,
    );
  });

for (const mode of ['transaction', 'statement'] as const)
  testBehindPgbouncer(mode, 'locks and days run once', async (application) => {
    const guards = await Promise.all([1, 2, 3].map(() => createJobGuard(application, { logger: false })));
    const ran: string[] = [];
    const numbers = Array.from({ length: 50 }, (_, number) => number);
    const ticks = (kind: string, times: object): (() => Promise<unknown>)[] =>
      guards.flatMap((guard) =>
        numbers.map((number) => {
          const name = `${kind}-${number}`;
          return guard.wrap({ name, lockAtMostFor: '10m', ...times }, () => void ran.push(name));
        }),
      );
    const night = ticks('lock', { lockAtLeastFor: '10m' });
    const days = ticks('day', { oncePer: { period: 'day', timeZone: 'UTC' } });
    try {
      // In statement mode the server refuses a claim that needs a transaction. The next tick of that day runs it.
      for (const round of [[...night, ...days], days]) await Promise.all(round.map((tick) => tick()));
    } finally {
      for (const guard of guards) await guard.close();
    }
    const expected = ['lock', 'day'].flatMap((kind) => numbers.map((number) => `${kind}-${number}`));
    assert.deepEqual(ran.sort(), expected.sort());
  });

const DEFAULTS = ['0', '0', '0', 'read committed'];

/** What the guard sets in a direct session, as several sessions of the application find it. They must agree. */
async function settingsOf(application: DataSource): Promise<readonly string[]> {
  const text = `SELECT current_setting('statement_timeout') AS a, current_setting('lock_timeout') AS b,
    current_setting('idle_in_transaction_session_timeout') AS c, current_setting('default_transaction_isolation') AS d`;
  const seen = await Promise.all(
    Array.from({ length: 8 }, async () => {
      const [row] = await application.query<Record<string, string>[]>(text);
      return Object.values(row ?? {});
    }),
  );
  assert.equal(new Set(seen.map(String)).size, 1, String(seen));
  return seen[0] ?? [];
}
