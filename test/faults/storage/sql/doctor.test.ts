import assert from 'node:assert/strict';
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
  testWith(
    'postgres',
    `PgBouncer in ${mode} mode is reported, and nothing else is examined`,
    async (database, t) => {
      await (await ledgerDataSource(database)).destroy();
      const url = new URL(database.environment['DATABASE_URL'] ?? '');
      const pooler = await pgbouncerBefore(url.href, mode);
      if (pooler === undefined) {
        reportSkip('pgbouncer');
        return t.skip('pgbouncer is missing');
      }
      try {
        url.port = new URL(pooler.url).port;
        const through = { type: 'postgres', url: url.href } as const;
        const { findings, fine } = await examinedAll(through);
        assert.deepEqual([codesOf(findings), fine], [['error pooler'], []]);
        const settings = await new DataSource(through).initialize();
        const [row] = await settings.query<{ statement_timeout: string }[]>('SHOW statement_timeout');
        await settings.destroy();
        assert.equal(row?.statement_timeout, '0', 'the examination left no setting behind');
        const shared = await examined(through, { connections: 'shared' });
        assert.deepEqual(
          shared.findings.filter(({ code }) => code === 'pooler'),
          [],
        );
        assert.deepEqual(await warningsAtStart(through, { connections: 'shared' }), []);
        const starting = await warningsAtStart(through);
        assert.equal(starting.length, 1, 'the start warns as the examination does');
        assert.match(starting[0] ?? '', /A pooler gives the sessions of the server to any client\./);
      } finally {
        await pooler.stop();
      }
    },
  );
