import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLoader } from '../unpacked.mjs';
import { asUnprivileged, giveToUnprivileged } from '../unprivileged.mjs';
import { postgres } from './postgres.mjs';

/**
 * A proxy that sends plain SELECTs to a replica, which is its default.
 *
 * @param {{ primary: string, standby: string }} servers their addresses
 * @returns {import('../types.mjs').Recipe}
 */
export function pgpool({ primary, standby }) {
  return {
    name: 'pgpool',
    label: 'Pgpool-II',
    containerPort: 9999,
    packages: { debian: { packagePrefix: 'pgpool2' }, ubuntu: { packagePrefix: 'pgpool2' } },

    async find(root) {
      const { file: program, args: before } = root
        ? await withOwnLoader(root, 'usr/sbin/pgpool')
        : { file: await findExecutable('pgpool', ['/usr/sbin']), args: [] };
      const [file, ...args] = [...(await asUnprivileged()), program, ...before];
      const answer = await run(file, [...args, '--version']);
      return { file, args, root, version: /version (\S+)/.exec(answer)?.[1] ?? answer.trim() };
    },

    initialize: (_program, folder) => giveToUnprivileged(folder),

    serve(_program, folder, port) {
      const servers = [primary, standby].map((url, number) => {
        const { hostname, port: behind } = new URL(url);
        return `backend_hostname${number} = '${hostname}'
backend_port${number} = ${behind}
backend_weight${number} = ${number}
`;
      });
      const file = join(folder, 'pgpool.conf');
      writeFileSync(
        file,
        `${servers.join('')}backend_clustering_mode = 'streaming_replication'
listen_addresses = '127.0.0.1'
port = ${port}
pcp_listen_addresses = ''
socket_dir = '${folder}'
pcp_socket_dir = '${folder}'
pid_file_name = '${join(folder, 'pgpool.pid')}'
pool_passwd = ''
sr_check_user = 'postgres'
num_init_children = 30
`,
      );
      const none = join(folder, 'none.conf');
      writeFileSync(none, '');
      return { args: ['-n', '-f', file, '-F', none, '-a', none], ready: /pgpool-II successfully started/ };
    },

    url: (port) => `postgres://postgres@127.0.0.1:${port}`,
    askVersion: async (url) => {
      const { Client } = (await import('pg')).default;
      const client = new Client({ connectionString: `${url}/postgres`, connectionTimeoutMillis: 10_000 });
      await client.connect();
      try {
        const { rows } = await client.query('SHOW pool_version');
        return /^\S+/.exec(rows[0].pool_version)?.[0] ?? rows[0].pool_version;
      } finally {
        await client.end();
      }
    },

    objectionTo: (version) => (/^\d+\.\d/.test(version) ? undefined : `it is not Pgpool-II (${version})`),
  };
}

/**
 * A copy of a PostgreSQL server that follows it, and applies each commit a moment later.
 *
 * @param {string} primary its address
 * @returns {import('../types.mjs').Recipe}
 */
export function standbyOf(primary) {
  const { hostname, port: followed } = new URL(primary);
  return {
    ...postgres,
    name: `postgres-standby-of-${followed}`,

    async initialize({ file, args }, folder) {
      await giveToUnprivileged(folder);
      const [starter, ...before] = [file, ...args].map((part) =>
        part.replace(/\/postgres$/, '/pg_basebackup'),
      );
      const source = ['-h', hostname, '-p', followed, '-U', 'postgres'];
      const data = join(folder, 'data');
      await run(starter, [...before, ...source, '-D', data, '-R', '-X', 'stream', '-c', 'fast'], {
        cwd: folder,
      });
    },

    serve(program, folder, port) {
      const { args } = postgres.serve(program, folder, port);
      return {
        args: [...args, '-c', 'recovery_min_apply_delay=200ms'],
        ready: /database system is ready to accept read-only connections/,
      };
    },
  };
}
