import { existsSync } from 'node:fs';
import { appendFile, readdir, realpath } from 'node:fs/promises';
import { dirname, join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLibraries } from '../unpacked.mjs';
import { asUnprivileged, giveToUnprivileged } from '../unprivileged.mjs';

/** @type {import('../types.mjs').Recipe} */
export const postgres = {
  name: 'postgres',
  label: 'PostgreSQL',
  containerPort: 5432,

  packages: {
    debian: { packagePrefix: 'postgresql-' },
    ubuntu: { packagePrefix: 'postgresql-' },
  },

  async find(root) {
    const folders = await versionsUnder(root ?? '/');
    const found = root ? join(folders[0] ?? root, 'postgres') : await findExecutable('postgres', folders);
    // initdb, and all files that the server reads, are beside the program itself, not beside a link to it.
    const path = await realpath(found);
    const [file, ...args] = [
      ...(await asUnprivileged()),
      ...(root ? await withOwnLibraries(root) : []),
      path,
    ];
    const answer = await run(file, [...args, '--version']);
    const version = /\(PostgreSQL\) (\S+)/.exec(answer)?.[1] ?? answer.trim();
    const objection = objectionTo(version);
    if (objection) throw new Error(`${path} is not usable: ${objection}`);
    return { file, args, root, version };
  },

  async initialize({ file, args }, folder) {
    await giveToUnprivileged(folder);
    const server = [file, ...args];
    const initdb = join(dirname(server[server.length - 1]), 'initdb');
    const [starter, ...before] = [...server.slice(0, -1), initdb];
    const options = ['--auth=trust', '--username=postgres', '--no-locale', '--encoding=UTF8', '--no-sync'];
    await run(starter, [...before, ...options, `--pgdata=${join(folder, 'data')}`], { cwd: folder });
    // What is lost without fsync is lost when the machine crashes, not when the server does. Set in the file,
    // where a test can turn it on: options of the command line cannot be changed.
    await appendFile(join(folder, 'data/postgresql.conf'), 'fsync = off\n');
  },

  serve(_program, folder, port) {
    const settings = {
      port,
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      max_connections: 200,
      shared_buffers: '32MB',
      // In the data folder, so that a killed server leaves nothing in /dev/shm.
      dynamic_shared_memory_type: 'mmap',
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    return {
      args: ['-D', join(folder, 'data'), ...args],
      ready: /database system is ready to accept connections/,
    };
  },

  // SIGTERM would wait until the last client has disconnected.
  shutdownSignal: 'SIGINT',

  /** The seventh line of postmaster.pid contains key and id of a piece of System V shared memory. */
  cleanUp(folder) {
    const file = join(folder, 'data/postmaster.pid');
    const remove = `! test -e "$0" || sed -n '7s/.* //p' "$0" | xargs -r -n 1 ipcrm -m`;
    return ['sh', '-c', remove, file];
  },

  url: (port) => `postgres://postgres@127.0.0.1:${port}`,

  async askVersion(url) {
    const { Client } = (await import('pg')).default;
    const named = new URL(url);
    // Every server has it, while a database named after the user may not exist.
    named.pathname = '/postgres';
    const client = new Client({
      connectionString: named.href,
      connectionTimeoutMillis: 10_000,
      query_timeout: 10_000,
    });
    await client.connect();
    try {
      const { rows } = await client.query('SELECT version()');
      return /^PostgreSQL (\S+)/.exec(rows[0].version)?.[1] ?? rows[0].version;
    } finally {
      await client.end();
    }
  },

  objectionTo,
};

/** @param {string} version */
function objectionTo(version) {
  const major = Number.parseInt(version);
  if (major >= 13) return undefined;
  return Number.isNaN(major) ? `it is not PostgreSQL (${version})` : `it is older than 13 (${version})`;
}

/** Debian and Ubuntu install versions side by side, outside of PATH; the newest first. @param {string} root */
async function versionsUnder(root) {
  const folder = join(root, 'usr/lib/postgresql');
  if (!existsSync(folder)) return [];
  const versions = (await readdir(folder)).sort((a, b) => Number(b) - Number(a));
  return versions.map((version) => join(folder, version, 'bin'));
}
