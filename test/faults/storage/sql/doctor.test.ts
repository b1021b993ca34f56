import assert from 'node:assert/strict';
import type { JobGuard } from 'cronlatch';
import { createJobGuard } from 'cronlatch/typeorm';
import { DataSource } from 'typeorm';
import { codesOf, examined, examinedAll, warningsAtStart } from '../../../support/benches/doctor';
import { testOnOwnServers } from '../../../support/benches/own-server';
import { testWith, type ServerName } from '../../../support/databases/fresh';
import { ledgerDataSource } from '../../../support/databases/run-tables';
import { pgbouncerBefore } from '../../../support/servers/pgbouncer';
import { reportSkip } from '../../../support/servers/test-on';

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
  await root.destroy();
  assert.deepEqual(codesOf((await examinedAll(bench.application.options)).findings), ['error not-durable']);
});

testOnOwnServers('a server that accepts no writes is reported (F-37)', async (bench) => {
  await createLedger(bench.application.options);
  await bench.demote();
  assert.deepEqual(codesOf((await examined(bench.application.options)).findings), ['error read-only']);
});

async function createLedger(options: DataSource['options']): Promise<void> {
  await (await ledgerDataSource({ options, environment: {}, dispose: () => Promise.resolve() })).destroy();
}

for (const mode of ['transaction', 'statement'] as const)
  testWith('postgres', `behind PgBouncer in ${mode} mode, the guard sets nothing`, async (database, t) => {
    await (await ledgerDataSource(database)).destroy();
    const url = new URL(database.environment['DATABASE_URL'] ?? '');
    const pooler = await pgbouncerBefore(url.href, mode);
    if (pooler === undefined) {
      reportSkip('pgbouncer');
      return t.skip('pgbouncer is missing');
    }
    url.port = new URL(pooler.url).port;
    const through = { type: 'postgres', url: url.href } as const;
    const application = await new DataSource(through).initialize();
    try {
      const { findings, notExamined } = await examinedAll(through);
      // The servers of the tests write without fsync.
      assert.deepEqual([codesOf(findings), notExamined], [['error not-durable', 'warning pooler'], []]);
      const starting = await warningsAtStart(through);
      assert.equal(starting.length, 1, 'the start warns as the examination does');
      assert.match(
        starting[0] ?? '',
        /: A pooler gives the sessions .+ Use a direct address\. Otherwise nothing/,
      );
      assert.deepEqual(await settingsOf(application), DEFAULTS);
    } finally {
      await application.destroy();
      await pooler.stop();
    }
  });

for (const mode of ['transaction', 'statement'] as const)
  testWith('postgres', `behind PgBouncer in ${mode} mode, locks and days run once`, async (database, t) => {
    await (await ledgerDataSource(database)).destroy();
    const url = new URL(database.environment['DATABASE_URL'] ?? '');
    const pooler = await pgbouncerBefore(url.href, mode);
    if (pooler === undefined) {
      reportSkip('pgbouncer');
      return t.skip('pgbouncer is missing');
    }
    url.port = new URL(pooler.url).port;
    const application = await new DataSource({ type: 'postgres', url: url.href }).initialize();
    const open = (): Promise<JobGuard> => createJobGuard(application, { logger: false });
    const guards = [await open(), await open(), await open()];
    try {
      const ran: string[] = [];
      const ticks = (kind: 'lock' | 'day', times: object): (() => Promise<unknown>)[] =>
        guards.flatMap((guard) =>
          Array.from({ length: 50 }, (_, number) => {
            const name = `${kind}-${number}`;
            return guard.wrap({ name, lockAtMostFor: '10m', ...times }, () => void ran.push(name));
          }),
        );
      const night = ticks('lock', { lockAtLeastFor: '10m' });
      const days = ticks('day', { oncePer: { period: 'day', timeZone: 'UTC' } });
      // In statement mode the server refuses a claim that needs a transaction. The next tick of that day runs it.
      for (const round of [[...night, ...days], days]) await Promise.all(round.map((tick) => tick()));
      const expected = Array.from({ length: 50 }, (_, number) => [`lock-${number}`, `day-${number}`]).flat();
      assert.deepEqual(ran.sort(), expected.sort());
      assert.deepEqual(await settingsOf(application), DEFAULTS);
    } finally {
      for (const guard of guards) await guard.close();
      await application.destroy();
      await pooler.stop();
    }
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
