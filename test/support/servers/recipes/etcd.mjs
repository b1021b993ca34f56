import { join } from 'node:path';

import { findExecutable } from '../find-executable.mjs';
import { run } from '../process/run.mjs';
import { withOwnLoader } from '../unpacked.mjs';

/**
 * etcd. Alone, or as a member of an ensemble.
 *
 * @param {{ name: string, peer: string, cluster: string }} [member] `peer`: its own URL for the others;
 *   `cluster`: all members with theirs. Alone, it takes any port for members that never come.
 * @returns {import('../types.mjs').Recipe}
 */
export function etcd(member = { name: 'alone', ...anyPeer }) {
  return {
    name: 'etcd',
    label: 'etcd',
    containerPort: 2379,
    packages: { debian: { packagePrefix: 'etcd-server' }, ubuntu: { packagePrefix: 'etcd-server' } },

    async find(root) {
      const server = root
        ? { ...(await withOwnLoader(root, 'usr/bin/etcd')), root }
        : { file: await findExecutable('etcd'), args: [] };
      const answer = await run(server.file, [...server.args, '--version']);
      const version = /^etcd Version: (\S+)/m.exec(answer)?.[1] ?? answer.trim();
      const objection = objectionTo(version);
      if (objection) throw new Error(`${server.file} is not usable: ${objection}`);
      return { ...server, version };
    },

    async initialize() {
      // It needs only an empty folder.
    },

    // It waits for the disk at each write.
    inMemory: true,

    serve(_program, folder, port) {
      const settings = {
        name: member.name,
        'data-dir': join(folder, 'data'),
        'listen-client-urls': `http://127.0.0.1:${port}`,
        'advertise-client-urls': `http://127.0.0.1:${port}`,
        'listen-peer-urls': member.peer,
        'initial-advertise-peer-urls': member.peer,
        'initial-cluster': member.cluster,
      };
      return {
        args: Object.entries(settings).flatMap(([name, value]) => [`--${name}`, value]),
        // A member of an ensemble logs it when it has found the others.
        ready: /ready to serve client requests/,
      };
    },

    sharesDatabase: true,
    url: (port) => `http://127.0.0.1:${port}`,

    async askVersion(url) {
      const answer = await fetch(new URL('/version', url), { signal: AbortSignal.timeout(10_000) });
      const body = await answer.text();
      return /"etcdserver":"([^"]+)"/.exec(body)?.[1] ?? body.slice(0, 100);
    },

    objectionTo,
  };
}

const anyPeer = { peer: 'http://127.0.0.1:0', cluster: 'alone=http://127.0.0.1:0' };

/** @param {string} version */
function objectionTo(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > 3 || (major === 3 && minor >= 4)) return undefined;
  return Number.isInteger(minor) ? `it is older than 3.4 (${version})` : `it is not etcd (${version})`;
}
