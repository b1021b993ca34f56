import assert from 'node:assert/strict';
import { test } from 'node:test';
import { judgeSettings, readSettings, type Settings } from '#cronlatch/storage/sql/doctor/settings';
import { createConnection } from 'mysql2/promise';
import { eventually } from '../../../support/clocks/eventually';
import { mysqlDatabase, testOn } from '../../../support/databases/fresh';

/** What MySQL 9 returns by default, as `SHOW VARIABLES` spells it. */
const MYSQL: Settings = {
  ...{ version: '9.7.4', innodb_flush_log_at_trx_commit: '1', log_bin: 'ON', sync_binlog: '1' },
  ...{ read_only: 'OFF', innodb_read_only: 'OFF', transaction_isolation: 'REPEATABLE-READ' },
  ...{ max_connections: '151', Threads_connected: '20', max_user_connections: '0', user_connections: '5' },
};

/** The same for MariaDB 10.11. */
const MARIADB: Settings = {
  ...{ version: '10.11.19-MariaDB', innodb_flush_log_at_trx_commit: '1', log_bin: 'OFF', sync_binlog: '0' },
  ...{ read_only: 'OFF', innodb_read_only: 'OFF', tx_isolation: 'REPEATABLE-READ', wsrep_on: 'OFF' },
  ...{ max_connections: '151', Threads_connected: '20', max_user_connections: '0', user_connections: '5' },
};

/** The same for PostgreSQL 15, as pg_settings spells it. */
const POSTGRES: Settings = {
  ...{ server_version: '15.20 (Debian 15.20-0+deb12u1)', in_recovery: 'false', user: 'app' },
  ...{ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' },
  ...{ default_transaction_isolation: 'read committed', default_transaction_read_only: 'off' },
  ...{ max_connections: '100', superuser_reserved_connections: '3', connected: '20' },
  ...{ user_limit: '-1', user_connections: '5' },
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
  [{ innodb_flush_log_at_trx_commit: '0' }, 'not-durable', 'error', / is 0, so a crash can lose /],
  [{ innodb_flush_log_at_trx_commit: '2' }, 'not-durable', 'error', / is 2, so a crash can lose /],
  [{ sync_binlog: '1000' }, 'not-durable', 'error', /^sync_binlog is 1000, so a crash can lose /],
  [{ read_only: 'ON', super_read_only: 'ON' }, 'read-only', 'error', /because read_only is ON\./],
  [{ innodb_read_only: 'ON' }, 'read-only', 'error', /because innodb_read_only is ON\./],
  [{ transaction_read_only: 'ON' }, 'read-only', 'error', /because transaction_read_only is ON\./],
  [
    { group_replication_group_name: 'a-b', group_replication_single_primary_mode: 'OFF' },
    'cluster',
    'warning',
    /a group with several primaries/,
  ],
  [{ Threads_connected: '142' }, 'few-connections', 'warning', /^Only 9 of 151 connections are free\./],
  [{ max_connections: '1000', Threads_connected: '901' }, 'few-connections', 'warning', /^Only 99 of 1000 /],
  [
    { max_user_connections: '12' },
    'few-connections',
    'warning',
    /^Only 7 of 12 connections of this user are /,
  ],
]);

testRules('MariaDB', 'mysql', MARIADB, [
  [{ version: '10.5.29-MariaDB' }, 'old-server', 'error', /MariaDB 10\.5\.29-MariaDB\. .+ is 10\.6\./],
  [{ version: '5.5.5-10.3.39-MariaDB' }, 'old-server', 'error', /MariaDB 10\.3\.39-MariaDB\./],
  [{ log_bin: 'ON' }, 'not-durable', 'error', /^sync_binlog is 0, /],
  [{ read_only: 'NO_LOCK' }, 'read-only', 'error', /because read_only is NO_LOCK\./],
  [{ wsrep_on: 'ON' }, 'cluster', 'warning', /a Galera cluster/],
]);

testRules('PostgreSQL', 'postgres', POSTGRES, [
  [{ server_version: '12.22' }, 'old-server', 'error', /PostgreSQL 12\.22\. The oldest .+ is 13\./],
  [{ synchronous_commit: 'off' }, 'not-durable', 'error', /^synchronous_commit is off, so /],
  [{ fsync: 'off' }, 'not-durable', 'error', /^fsync is off/],
  [{ full_page_writes: 'off' }, 'not-durable', 'error', /^full_page_writes is off/],
  [{ in_recovery: 'true' }, 'read-only', 'error', /because in_recovery is true\./],
  [{ default_transaction_read_only: 'on' }, 'read-only', 'error', /default_transaction_read_only is on\./],
  [{ connected: '88' }, 'few-connections', 'warning', /^Only 9 of 97 connections are free\./],
  [{ user_limit: '12' }, 'few-connections', 'warning', /^Only 7 of 12 connections of this user are /],
]);

testRules('SQLite', 'sqlite', SQLITE, [
  [{ journal_mode: 'memory' }, 'not-durable', 'error', /journal_mode is memory and synchronous is 2/],
  [{ synchronous: '0' }, 'not-durable', 'error', /journal_mode is wal and synchronous is 0/],
  [{ journal_mode: 'delete' }, 'rollback-mode', 'warning', /^In journal_mode delete, /],
  [{ synchronous: '1' }, 'unsynced-commit', 'info', /^synchronous is NORMAL/],
  [{ file_system: String(0x6969) }, 'network-file', 'error', /on a network/],
]);

void test('MariaDB with innodb_flush_log_at_trx_commit = 3 keeps every commit', () => {
  assert.deepEqual(judgeSettings('mysql', { ...MARIADB, innodb_flush_log_at_trx_commit: '3' }), []);
});

// `RowLockProvider` refuses what is found as a cluster.
void test('neither a group with one primary nor a server that is in no group is a cluster', () => {
  for (const [name, single] of [
    ['a-b', 'ON'],
    ['', 'OFF'],
  ] as const) {
    const group = { group_replication_group_name: name, group_replication_single_primary_mode: single };
    assert.deepEqual(judgeSettings('mysql', { ...MYSQL, ...group }), []);
  }
});

void test('the statement for synchronous_commit is for the user of the session, not for its caller', () => {
  const [finding] = judgeSettings('postgres', { ...POSTGRES, synchronous_commit: 'off' });
  assert.equal(finding?.statement, 'ALTER ROLE app SET synchronous_commit = on');
});

void test('connections that are reserved for administrators do not count as free', () => {
  const reserved = { connected: '82', reserved_connections: '6' };
  const [finding] = judgeSettings('postgres', { ...POSTGRES, ...reserved });
  assert.match(finding?.problem ?? '', /^Only 9 of 91 /);
});

void test('the settings are read by position, so that the names of columns do not matter', async () => {
  const rows = [
    { Variable_name: 'version', Value: '9.7.4' },
    { name: 'user_connections', value: 0 },
  ];
  const settings = await readSettings('sqlite', () => Promise.resolve(rows), undefined);
  assert.deepEqual(settings, { version: '9.7.4', user_connections: '0' });
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
    const { user_connections: used } = await readSettings('mysql', database.ask, undefined);
    assert.ok(Number(used) >= 2);
    await database.ask(`KILL QUERY ${other.threadId}`);
    await sleeping;
  },
);
