import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeSettings, readSettings, type Settings } from '#cronlatch/storage/sql/doctor/settings';
import { createConnection } from 'mysql2/promise';
import { mysqlDatabase, testOn } from '../../../support/databases';
import { eventually } from '../../../support/eventually';

/** What MySQL 9 returns by default, as `SHOW VARIABLES` spells it. */
const MYSQL: Settings = {
  ...{ version: '9.7.4', innodb_flush_log_at_trx_commit: '1', log_bin: 'ON', sync_binlog: '1' },
  ...{ read_only: 'OFF', innodb_read_only: 'OFF', transaction_isolation: 'REPEATABLE-READ' },
  ...{ max_connections: '151', Threads_connected: '20', replicas: '0' },
};

/** The same for MariaDB 10.11. */
const MARIADB: Settings = {
  ...{ version: '10.11.19-MariaDB', innodb_flush_log_at_trx_commit: '1', log_bin: 'OFF', sync_binlog: '0' },
  ...{ read_only: 'OFF', innodb_read_only: 'OFF', tx_isolation: 'REPEATABLE-READ', wsrep_on: 'OFF' },
  ...{ rpl_semi_sync_master_enabled: 'OFF', max_connections: '151', Threads_connected: '20', replicas: '0' },
};

/** The same for PostgreSQL 15, as pg_settings spells it. */
const POSTGRES: Settings = {
  ...{ server_version: '15.20 (Debian 15.20-0+deb12u1)', in_recovery: 'false', replicas: '0' },
  ...{ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on', synchronous_standby_names: '' },
  ...{ default_transaction_isolation: 'read committed', default_transaction_read_only: 'off' },
  ...{ max_connections: '100', superuser_reserved_connections: '3', connected: '20' },
};

/** The same for a SQLite file in WAL mode, on ext4. */
const SQLITE: Settings = { journal_mode: 'wal', synchronous: '2', file_system: '61267' };

type Case = readonly [change: Settings, code: string, severity: string, problem: RegExp];

function testRules(name: string, dialect: 'mysql' | 'postgres' | 'sqlite', usual: Settings, cases: Case[]) {
  void test(`the default settings of ${name} are in order`, () => {
    assert.deepEqual(judgeSettings(dialect, usual), []);
  });
  for (const [change, code, severity, problem] of cases)
    void test(`${name} with ${JSON.stringify(change)}: ${severity} ${code}`, () => {
      const findings = judgeSettings(dialect, { ...usual, ...change });
      assert.deepEqual(
        findings.map((each) => [each.code, each.severity]),
        [[code, severity]],
      );
      assert.match(findings[0]?.problem ?? '', problem);
    });
}

testRules('MySQL', 'mysql', MYSQL, [
  [{ version: '5.7.44' }, 'old-server', 'error', /MySQL 5\.7\.44\. The oldest supported version is 8\./],
  [{ innodb_flush_log_at_trx_commit: '0' }, 'not-durable', 'error', /is 0, so a crash of the server can/],
  [{ innodb_flush_log_at_trx_commit: '2' }, 'not-durable', 'error', /is 2, so a crash of the machine can/],
  [{ sync_binlog: '1000' }, 'binlog-not-durable', 'warning', /^sync_binlog is 1000, /],
  [{ read_only: 'ON', super_read_only: 'ON' }, 'read-only', 'error', /because read_only is ON\./],
  [{ innodb_read_only: 'ON' }, 'read-only', 'error', /because innodb_read_only is ON\./],
  [{ replicas: '2' }, 'async-replica', 'info', /any of the 2 replicas/],
  [
    { group_replication_group_name: 'a-b', group_replication_single_primary_mode: 'OFF' },
    'cluster',
    'warning',
    /a group with several primaries/,
  ],
  [{ transaction_isolation: 'SERIALIZABLE' }, 'serializable', 'info', /SERIALIZABLE/],
  [{ Threads_connected: '142' }, 'few-connections', 'warning', /^Only 9 of 151 connections are free\./],
  [{ max_connections: '1000', Threads_connected: '901' }, 'few-connections', 'warning', /^Only 99 of 1000 /],
]);

testRules('MariaDB', 'mysql', MARIADB, [
  [{ version: '10.5.29-MariaDB' }, 'old-server', 'error', /MariaDB 10\.5\.29-MariaDB\. .+ is 10\.6\./],
  [{ version: '5.5.5-10.3.39-MariaDB' }, 'old-server', 'error', /MariaDB 10\.3\.39-MariaDB\./],
  [{ log_bin: 'ON' }, 'binlog-not-durable', 'warning', /^sync_binlog is 0, /],
  [{ read_only: 'NO_LOCK' }, 'read-only', 'error', /because read_only is NO_LOCK\./],
  [{ wsrep_on: 'ON' }, 'cluster', 'warning', /a Galera cluster/],
  [{ tx_isolation: 'SERIALIZABLE' }, 'serializable', 'info', /SERIALIZABLE/],
]);

testRules('PostgreSQL', 'postgres', POSTGRES, [
  [{ server_version: '12.22' }, 'old-server', 'error', /PostgreSQL 12\.22\. The oldest .+ is 13\./],
  [{ synchronous_commit: 'off' }, 'not-durable', 'error', /^synchronous_commit is off for this user/],
  [{ fsync: 'off' }, 'not-durable', 'error', /^fsync is off/],
  [{ full_page_writes: 'off' }, 'not-durable', 'error', /^full_page_writes is off/],
  [{ in_recovery: 'true' }, 'read-only', 'error', /because in_recovery is true\./],
  [{ default_transaction_read_only: 'on' }, 'read-only', 'error', /default_transaction_read_only is on\./],
  [{ replicas: '1' }, 'async-replica', 'info', /any of the 1 replicas/],
  [{ default_transaction_isolation: 'serializable' }, 'serializable', 'info', /SERIALIZABLE/],
  [{ connected: '88' }, 'few-connections', 'warning', /^Only 9 of 97 connections are free\./],
]);

testRules('SQLite', 'sqlite', SQLITE, [
  [{ journal_mode: 'memory' }, 'not-durable', 'error', /journal_mode memory and synchronous 2/],
  [{ synchronous: '0' }, 'not-durable', 'error', /journal_mode wal and synchronous 0/],
  [{ journal_mode: 'delete' }, 'rollback-mode', 'warning', /^In journal_mode delete, /],
  [{ synchronous: '1' }, 'unsynced-commit', 'info', /^synchronous is NORMAL/],
  [{ file_system: String(0x6969) }, 'network-file', 'error', /on a network/],
]);

void test('a replica that commits wait for is in order', () => {
  const semiSync = ['rpl_semi_sync_source_enabled', 'rpl_semi_sync_master_enabled'];
  for (const name of semiSync)
    assert.deepEqual(judgeSettings('mysql', { ...MYSQL, replicas: '1', [name]: 'ON' }), []);
  const names = { synchronous_standby_names: 'FIRST 1 (b, c)' };
  assert.deepEqual(judgeSettings('postgres', { ...POSTGRES, replicas: '1', ...names }), []);
});

void test('connections that are reserved for administrators do not count as free', () => {
  const reserved = { connected: '82', reserved_connections: '6' };
  const [finding] = judgeSettings('postgres', { ...POSTGRES, ...reserved });
  assert.match(finding?.problem ?? '', /^Only 9 of 91 /);
});

void test('the settings are read by position, so that the names of columns do not matter', async () => {
  const rows = [
    { Variable_name: 'version', Value: '9.7.4' },
    { name: 'replicas', value: 0 },
  ];
  const settings = await readSettings('sqlite', () => Promise.resolve(rows), undefined);
  assert.deepEqual(settings, { version: '9.7.4', replicas: '0' });
});

testOn(
  'mysql',
  'the settings are read while another session sends a statement with four-byte text',
  async (t) => {
    const database = await mysqlDatabase();
    const other = await createConnection({ uri: database.url });
    t.after(async () => {
      other.destroy();
      await database.dispose();
    });
    const sleeping = other.query(`SELECT SLEEP(60), '😀'`);
    sleeping.catch(() => {}); // Ends with its connection, if the test fails.
    const sleeps = `SELECT 1 FROM performance_schema.threads WHERE processlist_id = ${other.threadId} AND processlist_state = 'User sleep'`;
    await eventually(async () => (await database.ask(sleeps)).length === 1, 'the statement runs');
    assert.equal((await readSettings('mysql', database.ask, undefined))['replicas'], '0');
    await database.ask(`KILL QUERY ${other.threadId}`);
    await sleeping;
  },
);
