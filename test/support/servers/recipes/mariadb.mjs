import { mkdir, readdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';

import { run } from '../process/run.mjs';
import { askVersion, dataArguments, findServer, hastily, servingArguments } from './mysql-family.mjs';

/** @typedef {import('../types.mjs').Program} Program */

/** @type {import('../types.mjs').Recipe} */
export const mariadb = {
  name: 'mariadb',
  label: 'MariaDB',
  containerPort: 3306,

  packages: {
    debian: { packagePrefix: 'mariadb-server-core' },
    ubuntu: { packagePrefix: 'mariadb-server-core' },
  },

  find: (root) => findServer('mariadbd', { root, folders: ['/usr/local/mariadb/bin'], objectionTo }),

  // The work of mariadb-install-db, which itself cannot be used: it starts the server without the unpacked
  // loader.
  async initialize(program, folder) {
    await mkdir(join(folder, 'data'));
    await writeFile(join(folder, 'bootstrap.sql'), await bootstrap(program));
    const server = [program.file, ...program.args, ...common(program, folder), '--bootstrap', ...hastily];
    await run('sh', ['-c', 'exec "$@" < bootstrap.sql', 'sh', ...server], { cwd: folder });
  },

  serve(program, folder, port) {
    const args = [...common(program, folder), ...servingArguments(port)];
    // The line after the one that reports that the server is ready for connections.
    return { args, hastily, ready: new RegExp(`^Version: .*port: ${port}\\b`) };
  },

  url: (port) => `mariadb://root@127.0.0.1:${port}`,
  askVersion,
  objectionTo,
};

/** @param {string} version */
function objectionTo(version) {
  if (!/mariadb/i.test(version)) return `it is not MariaDB (${version})`;
  const [major, minor] = version.split('.').map(Number);
  if (major > 10 || (major === 10 && minor >= 6)) return undefined;
  return `it is older than 10.6 (${version})`;
}

/** @param {Program} program @param {string} folder */
function common(program, folder) {
  return [...dataArguments(program, folder), '--innodb-log-file-size=32M'];
}

/** The system's tables, and a root without a password, also on 127.0.0.1. @param {Program} program */
async function bootstrap(program) {
  const folder = await scriptsOf(program);
  const files = await readdir(folder);
  const scripts = ['system_tables', 'performance_tables', 'system_tables_data'].map((name) => {
    // Older versions use the family's name.
    const file = files.find((each) => each === `mariadb_${name}.sql` || each === `mysql_${name}.sql`);
    if (!file) throw new Error(`${folder} has no ${name}.sql for this MariaDB`);
    return readFile(join(folder, file), 'utf8');
  });
  return [
    'CREATE DATABASE mysql;',
    'USE mysql;',
    'SET @auth_root_socket=NULL;',
    ...(await Promise.all(scripts)),
  ].join('\n');
}

/** @param {Program} program */
async function scriptsOf({ file, root }) {
  const prefix = root ? join(root, 'usr') : dirname(dirname(await realpath(file)));
  const folders = ['share/mysql', 'share/mariadb', 'share'].map((folder) => join(prefix, folder));
  const found = folders.find((folder) => existsSync(join(folder, 'fill_help_tables.sql')));
  if (found) return found;
  throw new Error(`the scripts that create MariaDB's system tables are in none of ${folders.join(', ')}`);
}
