import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { run } from '../process/run.mjs';
import { askVersion, dataArguments, findServer, hastily, servingArguments } from './mysql-family.mjs';

/** @typedef {import('../types.mjs').Program} Program */

/** @type {import('../types.mjs').Recipe} */
export const mysql = {
  name: 'mysql',
  label: 'MySQL',
  containerPort: 3306,

  packages: {
    // No stable Debian has MySQL; the unstable one does, with the libraries that it needs.
    debian: { suite: 'sid', packagePrefix: 'mysql-server-core' },
    ubuntu: { packagePrefix: 'mysql-server-core' },
  },

  find: (root) => findServer('mysqld', { root, folders: ['/usr/local/mysql/bin'], objectionTo }),

  async initialize(program, folder) {
    // MySQL creates root as root@localhost, which with --skip-name-resolve is the socket only.
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
      ...hastily,
    ]);
  },

  serve(program, folder, port) {
    const args = [
      ...common(program, folder),
      ...servingArguments(port),
      '--mysqlx=0',
      '--secure-file-priv=NULL',
      '--innodb-log-buffer-size=1M',
      // performance_schema stays, because it contains data_locks; its largest tables, which no test reads,
      // are switched off.
      '--performance-schema-digests-size=0',
      '--performance-schema-events-statements-history-long-size=0',
    ];
    return { args, hastily, ready: new RegExp(`ready for connections.*port: ${port}\\b`) };
  },

  url: (port) => `mysql://root@127.0.0.1:${port}`,
  askVersion,
  objectionTo,
};

/** @param {string} version */
function objectionTo(version) {
  if (/mariadb/i.test(version)) return `it is MariaDB (${version})`;
  if (Number.parseInt(version) >= 8) return undefined;
  return `it is older than 8.0 (${version})`;
}

/** @param {Program} program @param {string} folder */
function common(program, folder) {
  return [...dataArguments(program, folder), '--innodb-redo-log-capacity=32M'];
}
