import { statfs } from 'node:fs/promises';
import type { Ask } from '../connections/proxy-check';
import type { DialectName } from '../dialects/sql-dialect';
import { clusterProblem } from '../row-lock/row-lock-statements';
import { finding, type Finding } from '../connections/finding';

/** What a server or a file shows about itself. A setting that it does not have is missing. */
export type Settings = Readonly<Record<string, string | undefined>>;

type Rule = (settings: Settings) => Finding | false | undefined;

const MYSQL_RULES: readonly Rule[] = [
  ({ version = '' }) =>
    /mariadb/i.test(version)
      ? isOld('MariaDB', version.replace(/^5\.5\.5-/, ''), 10.06) // Some proxies put 5.5.5 in front.
      : isOld('MySQL', version, 8),
  ({ innodb_flush_log_at_trx_commit: value = '1' }) =>
    !['1', '3'].includes(value) && // 3 of MariaDB syncs even more often.
    notDurable(`innodb_flush_log_at_trx_commit is ${value}`, 'SET GLOBAL innodb_flush_log_at_trx_commit = 1'),
  // InnoDB rolls back what the binary log lacks after a crash. https://bugs.mysql.com/bug.php?id=75519
  ({ log_bin: isOn, sync_binlog: value = '1' }) =>
    isOn === 'ON' && value !== '1' && notDurable(`sync_binlog is ${value}`, 'SET GLOBAL sync_binlog = 1'),
  (settings) =>
    isReadOnly(settings, 'read_only', 'innodb_read_only', 'transaction_read_only', 'tx_read_only'),
  (settings) => {
    const problem = clusterProblem(settings);
    return (
      problem !== undefined &&
      finding('cluster', `The clocks of several servers decide about locks and runs: ${problem}.`)
    );
  },
  ({ max_connections: most, Threads_connected: used }) => hasFewConnections(Number(most), Number(used)),
  ({ max_user_connections: most, user_connections: used }) =>
    hasFewConnections(Number(most), Number(used), ' of this user'),
];

const POSTGRES_RULES: readonly Rule[] = [
  ({ server_version: version = '' }) => isOld('PostgreSQL', version, 13),
  ({ synchronous_commit: value, user }) =>
    value === 'off' &&
    notDurable('synchronous_commit is off', `ALTER ROLE ${user} SET synchronous_commit = on`),
  ...['fsync', 'full_page_writes'].map(
    (name): Rule =>
      ({ [name]: value }) =>
        value === 'off' &&
        notDurable(`${name} is off`, `ALTER SYSTEM SET ${name} = on; SELECT pg_reload_conf()`),
  ),
  (settings) => isReadOnly(settings, 'in_recovery', 'default_transaction_read_only'),
  ({ max_connections: most, superuser_reserved_connections: few, reserved_connections: more, connected }) =>
    hasFewConnections(Number(most) - Number(few) - Number(more ?? 0), Number(connected)),
  ({ user_limit: most, user_connections: used }) =>
    hasFewConnections(Number(most), Number(used), ' of this user'),
];

/** The types that Linux returns for NFS, SMB and CIFS. */
const NETWORK_FILE_SYSTEMS = [0x6969, 0x517b, 0xff534d42, 0xfe534d42].map(String);

const SQLITE_RULES: readonly Rule[] = [
  ({ journal_mode: mode = '', synchronous }) => {
    if (mode === 'memory' || mode === 'off' || synchronous === '0')
      return notDurable(`journal_mode is ${mode} and synchronous is ${synchronous}`);
    if (mode !== 'wal')
      return finding(
        'rollback-mode',
        `In journal_mode ${mode}, readers and writers block each other, and so delay locks.`,
        'PRAGMA journal_mode = WAL',
      );
    const problem = `synchronous is NORMAL, so a power failure can lose the last runs, which then run again.`;
    return synchronous === '1' && finding('unsynced-commit', problem, 'PRAGMA synchronous = FULL');
  },
  ({ file_system: type = '' }) =>
    NETWORK_FILE_SYSTEMS.includes(type) &&
    finding('network-file', 'The file is on a network, where its file locks are not reliable.'),
];

export const QUOTED_USER = ['1', '-1'].map((part) => `QUOTE(SUBSTRING_INDEX(CURRENT_USER(), '@', ${part}))`);

/** How the settings are read, and what is wrong with them. Each text returns rows of a name and a value. */
const CHECKUPS: Readonly<
  Record<DialectName, { readonly texts: readonly string[]; readonly rules: readonly Rule[] }>
> = {
  mysql: {
    rules: MYSQL_RULES,
    texts: [
      'SHOW VARIABLES',
      `SHOW GLOBAL STATUS WHERE Variable_name = 'Threads_connected'`,
      `SELECT 'user' AS name, CONCAT(${QUOTED_USER.join(`, '@', `)}) AS value`,
      `SELECT 'user_name' AS name, SUBSTRING_INDEX(CURRENT_USER(), '@', 1) AS value`,
    ],
  },
  postgres: {
    rules: POSTGRES_RULES,
    texts: [
      'SELECT name, setting AS value FROM pg_settings',
      `SELECT 'in_recovery' AS name, pg_is_in_recovery()::text AS value
        UNION ALL SELECT 'user', quote_ident(current_user)
        UNION ALL SELECT 'user_limit', rolconnlimit::text FROM pg_roles WHERE rolname = current_user
        UNION ALL SELECT 'user_connections', count(*)::text FROM pg_stat_activity WHERE usename = current_user
        UNION ALL SELECT 'connected', sum(numbackends)::text FROM pg_stat_database`,
    ],
  },
  sqlite: {
    rules: SQLITE_RULES,
    texts: [
      `SELECT 'journal_mode' AS name, journal_mode AS value FROM pragma_journal_mode
        UNION ALL SELECT 'synchronous', synchronous FROM pragma_synchronous`,
    ],
  },
};

/** @param file the file of a SQLite database */
export async function readSettings(
  dialect: DialectName,
  ask: Ask,
  file: string | undefined,
): Promise<Settings> {
  const settings: Record<string, string> = {};
  if (file !== undefined) settings['file_system'] = String((await statfs(file)).type);
  for (const text of CHECKUPS[dialect].texts)
    for (const row of await ask(text)) {
      const [name, value] = Object.values(row);
      settings[String(name)] = String(value);
    }
  if (dialect === 'mysql') settings['user_connections'] = await connectionsOf(settings['user_name'], ask);
  return settings;
}

/** The information_schema.PROCESSLIST of MySQL fails while any session runs a statement with four-byte text. */
async function connectionsOf(userName: string | undefined, ask: Ask): Promise<string> {
  const sessions = await ask('SHOW PROCESSLIST');
  return String(sessions.filter(({ User: user }) => user === userName).length);
}

export function judgeSettings(dialect: DialectName, settings: Settings): Finding[] {
  return CHECKUPS[dialect].rules.flatMap((rule) => rule(settings) || []);
}

function notDurable(setting: string, statement?: string): Finding {
  const problem = `${setting}, so a crash can lose the last grants and runs. A lock can then be granted twice, and a completed run can run again.`;
  return finding('not-durable', problem, statement);
}

/** @param oldest as `major + minor / 100` */
function isOld(label: string, version: string, oldest: number): Finding | false {
  const [major = 0, minor = 0] = version.split('.').map((part) => Number.parseInt(part));
  const problem = `cronlatch does not support ${label} ${version}. The oldest supported version is ${oldest}.`;
  return major + minor / 100 < oldest && finding('old-server', problem.replace('.06', '.6'));
}

function isReadOnly(settings: Settings, ...names: readonly string[]): Finding | undefined {
  const name = names.find((each) => /^(on|true|no_lock)/i.test(settings[each] ?? ''));
  if (name === undefined) return undefined;
  return finding('read-only', `No job can run, because ${name} is ${settings[name]}.`);
}

/** @param most without those that are reserved for administrators. Not above 0: there is no limit. */
function hasFewConnections(most: number, used: number, whose = ''): Finding | false {
  const free = Math.max(0, most - used);
  const problem = `Only ${free} of ${most} connections${whose} are free. Each instance needs 2 besides its pool, and up to 6 while statements wait for locked rows.`;
  return most > 0 && (free < 10 || free < most / 10) && finding('few-connections', problem);
}
