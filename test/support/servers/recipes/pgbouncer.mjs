import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLoader } from '../unpacked.mjs';
import { asUnprivileged, giveToUnprivileged } from '../unprivileged.mjs';

/**
 * A pooler in front of a PostgreSQL server.
 *
 * @param {{ url: string, mode: 'session' | 'transaction' | 'statement' }} [target] needed to start it
 * @returns {import('../types.mjs').Recipe}
 */
export function pgbouncer({ url, mode } = { url: 'postgres://127.0.0.1', mode: 'transaction' }) {
  return {
    name: 'pgbouncer',
    label: 'PgBouncer',
    containerPort: 6432,
    packages: { debian: { packagePrefix: 'pgbouncer' }, ubuntu: { packagePrefix: 'pgbouncer' } },

    async find(root) {
      const { file: program, args: before } = root
        ? await withOwnLoader(root, 'usr/sbin/pgbouncer')
        : { file: await findExecutable('pgbouncer', ['/usr/sbin']), args: [] };
      const [file, ...args] = [...(await asUnprivileged()), program, ...before];
      const answer = await run(file, [...args, '--version']);
      return { file, args, root, version: /PgBouncer (\S+)/.exec(answer)?.[1] ?? answer.trim() };
    },

    initialize: (_program, folder) => giveToUnprivileged(folder),

    serve(_program, folder, port) {
      const { hostname, port: behind, username } = new URL(url);
      const file = join(folder, 'pgbouncer.ini');
      writeFileSync(
        file,
        `[databases]
* = host=${hostname} port=${behind} user=${username}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 5
`,
      );
      return { args: [file], ready: /process up/ };
    },

    url: (port) => `postgres://postgres@127.0.0.1:${port}`,

    async askVersion(own) {
      const { Client } = (await import('pg')).default;
      const client = new Client({ connectionString: `${own}/pgbouncer`, connectionTimeoutMillis: 10_000 });
      await client.connect();
      try {
        const { rows } = await client.query('SHOW VERSION');
        return /PgBouncer (\S+)/.exec(rows[0].version)?.[1] ?? rows[0].version;
      } finally {
        await client.end();
      }
    },

    objectionTo: (version) => (/^1\.\d/.test(version) ? undefined : `it is not PgBouncer 1 (${version})`),
  };
}
