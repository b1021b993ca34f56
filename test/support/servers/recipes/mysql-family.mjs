/** What MySQL and MariaDB, a fork of MySQL, still have in common. */
import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLoader } from '../unpacked.mjs';

/** @typedef {import('../types.mjs').Program} Program */

/**
 * The server's program on the machine, or unpacked under `root`; rejects if its version is not usable.
 *
 * @param {string} name
 * @param {{ root?: string, folders: string[], objectionTo: (version: string) => string | undefined }} options
 * @returns {Promise<Program>}
 */
export async function findServer(name, { root, folders, objectionTo }) {
  const server = root
    ? { ...(await withOwnLoader(root, `usr/sbin/${name}`)), root }
    : { file: await findExecutable(name, folders), args: [] };
  const answer = await run(server.file, [...server.args, '--no-defaults', '--version']);
  const version = /\bVer (\S+)/.exec(answer)?.[1] ?? answer.trim();
  const objection = objectionTo(version);
  if (objection) throw new Error(`${server.file} is not usable: ${objection}`);
  return { ...server, version };
}

/** Arguments for creating the data and for serving it. @param {Program} program @param {string} folder */
export function dataArguments({ root }, folder) {
  return [
    // Must be the first.
    '--no-defaults',
    `--datadir=${join(folder, 'data')}`,
    // A server that starts removes the temporary tables of every other server from a shared folder.
    `--tmpdir=${folder}`,
    '--skip-log-bin',
    // The server refuses to run as root unless this option allows it.
    ...(process.getuid?.() === 0 ? ['--user=root'] : []),
    ...(root ? unpackedUnder(root) : []),
  ];
}

/** For cases in which a crash may lose data: while the data is created, and for servers that no test kills. */
export const hastily = [
  '--innodb-flush-log-at-trx-commit=0',
  '--skip-innodb-doublewrite',
  '--loose-innodb-flush-method=nosync',
];

/** @param {number} port */
export function servingArguments(port) {
  return [
    '--bind-address=127.0.0.1',
    `--port=${port}`,
    // Relative to the data folder, because the whole path could exceed the limit for sockets.
    '--socket=mysql.sock',
    '--skip-name-resolve',
    '--max-connections=300',
    '--innodb-buffer-pool-size=32M',
  ];
}

/** @param {string} url */
export async function askVersion(url) {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ uri: url, connectTimeout: 10_000 });
  try {
    const [rows] = await connection.query({ sql: 'SELECT VERSION() AS version', timeout: 10_000 });
    return /** @type {{ version: string }[]} */ (rows)[0].version;
  } finally {
    connection.destroy();
  }
}

/** By default the server looks for these at its build path. @param {string} root */
function unpackedUnder(root) {
  return [
    `--basedir=${join(root, 'usr')}`,
    `--lc-messages-dir=${join(root, 'usr/share/mysql')}`,
    `--plugin-dir=${join(root, 'usr/lib/mysql/plugin')}`,
  ];
}
