import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLoader } from '../unpacked.mjs';

/** @typedef {import('../types.mjs').Program} Program */

/** @type {import('../types.mjs').Recipe} */
export const mysql = {
  name: 'mysql',
  label: 'MySQL',
  containerPort: 3306,

  packages: {
    // No stable Debian has MySQL; the unstable one does, and brings the libraries that it needs.
    debian: { suite: 'sid', packagePrefix: 'mysql-server-core' },
    ubuntu: { packagePrefix: 'mysql-server-core' },
  },

  async find(root) {
    const mysqld = root
      ? { ...(await withOwnLoader(root, 'usr/sbin/mysqld')), root }
      : { file: await findExecutable('mysqld', ['/usr/local/mysql/bin']), args: [] };
    const answer = await run(mysqld.file, [...mysqld.args, '--no-defaults', '--version']);
    const version = /\bVer (\S+)/.exec(answer)?.[1] ?? answer.trim();
    const objection = objectionTo(version);
    if (objection) throw new Error(`${mysqld.file} is not usable: ${objection}`);
    return { ...mysqld, version };
  },

  async initialize(program, folder) {
    // The root that MySQL makes is root@localhost, which with --skip-name-resolve is the socket only.
    const users = join(folder, 'users.sql');
    await writeFile(
      users,
      `CREATE USER root@'127.0.0.1';\nGRANT ALL ON *.* TO root@'127.0.0.1' WITH GRANT OPTION;\n`,
    );
    await run(program.file, [
      ...program.args,
      ...common(program, folder),
      '--initialize-insecure',
      `--init-file=${users}`,
      // Only here, where a crash loses nothing: a second less.
      '--innodb-flush-log-at-trx-commit=0',
      '--skip-innodb-doublewrite',
    ]);
  },

  serve(program, folder, port) {
    const args = [
      ...common(program, folder),
      '--bind-address=127.0.0.1',
      `--port=${port}`,
      // Relative to the data folder: the whole path could be longer than a socket's may be.
      '--socket=mysql.sock',
      '--mysqlx=0',
      '--skip-name-resolve',
      '--secure-file-priv=NULL',
      '--max-connections=300',
      '--innodb-buffer-pool-size=32M',
      '--innodb-log-buffer-size=1M',
      // performance_schema stays, because data_locks is in it; its largest tables, which nobody reads, do not.
      '--performance-schema-digests-size=0',
      '--performance-schema-events-statements-history-long-size=0',
    ];
    return { args, ready: new RegExp(`ready for connections.*port: ${port}\\b`) };
  },

  url: (port) => `mysql://root@127.0.0.1:${port}`,

  async askVersion(url) {
    const { createConnection } = await import('mysql2/promise');
    const connection = await createConnection({ uri: url, connectTimeout: 10_000 });
    try {
      const [rows] = await connection.query({ sql: 'SELECT VERSION() AS version', timeout: 10_000 });
      return /** @type {{ version: string }[]} */ (rows)[0].version;
    } finally {
      connection.destroy();
    }
  },

  objectionTo,
};

/** @param {string} version */
function objectionTo(version) {
  if (/mariadb/i.test(version)) return `it is MariaDB (${version})`;
  if (Number.parseInt(version) >= 8) return undefined;
  return `it is older than 8.0 (${version})`;
}

/** What the data is made with, and what it is served with. @param {Program} program @param {string} folder */
function common({ root }, folder) {
  return [
    // Must be the first.
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    '--skip-log-bin',
    '--innodb-redo-log-capacity=32M',
    // mysqld refuses to be root unless it is told to.
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ...(root ? unpackedUnder(root) : []),
  ];
}

/** mysqld looks for these where it was built to be. @param {string} root */
function unpackedUnder(root) {
  return [
    `--basedir=${join(root, 'usr')}`,
    `--lc-messages-dir=${join(root, 'usr/share/mysql')}`,
    `--plugin-dir=${join(root, 'usr/lib/mysql/plugin')}`,
  ];
}
