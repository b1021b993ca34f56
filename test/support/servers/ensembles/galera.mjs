import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { MissingServerError } from '../errors.mjs';
import { freePort } from '../free-port.mjs';
import { mariadb } from '../recipes/mariadb.mjs';
import { bringGalera } from '../tools/galera.mjs';
import { answersOf, eventually, startTogether, stopAll } from './ensemble.mjs';

/**
 * @typedef {object} Position where a node that joins already is
 * @property {string} uuid
 * @property {string} seqno
 */

/**
 * MariaDB nodes of one Galera cluster, each of which accepts writes. All begin with equal data, so a joining node copies
 * nothing: that would need rsync, and scripts which refuse to run as root.
 *
 * @param {number} size
 * @param {(line: string) => void} log
 * @returns {Promise<import('./ensemble.mjs').Ensemble>}
 */
export async function startGalera(size, log) {
  const found = await bringGalera(log);
  if ('missing' in found) throw new MissingServerError([found.missing]);
  /** @type {import('../types.mjs').OwnServer[]} */ const members = [];
  const stop = () => stopAll(members);
  /** @type {number[]} */ const ports = [];
  /** @param {Position} [position] */
  const addNode = async (position) => {
    const port = await freePort();
    const node = nodeOf({ library: found.file, port, others: ports, position });
    members.push(await startOnce(node, log).catch(() => startOnce(node, log)));
    ports.push(port);
  };
  try {
    await addNode();
    for (let node = 1; node < size; node++)
      // Each join moves the position of the cluster.
      await addNode(await eventually('A Galera node', () => askPosition(members[node - 1].url)));
    const settled = () =>
      eventually('A complete Galera cluster', async () => {
        const sizes = await answersOf(members, (url) => askStatus(url, 'wsrep_cluster_size'));
        return (sizes.length === size && sizes.every(({ answer }) => answer === String(size))) || undefined;
      });
    await settled();
    const urls = members.map(({ url }) => url);
    return {
      ...{ name: 'galera', version: members[0].version, members, urls, settled, stop },
      leader: () => Promise.resolve(members[0]),
    };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** A start can fail for a reason that passes: a thread of Galera ends while another one looks at it. */
async function startOnce(
  /** @type {import('../types.mjs').Recipe} */ node,
  /** @type {(line: string) => void} */ log,
) {
  const [server] = await startTogether([node], log);
  return server;
}

/**
 * @param {{ library: string, port: number, others: readonly number[], position: Position | undefined }} node
 * @returns {import('../types.mjs').Recipe}
 */
function nodeOf({ library, port, others, position }) {
  const address = `127.0.0.1:${port}`;
  const provider = `base_port=${port};gmcast.listen_addr=tcp://${address};gcache.size=32M`;
  return {
    ...mariadb,
    serve(program, folder, clientPort) {
      const served = mariadb.serve(program, folder, clientPort);
      if (position) writeFileSync(join(folder, 'data', 'grastate.dat'), stateFile(position));
      const galera = [
        ...['--wsrep-on=ON', `--wsrep-provider=${library}`, `--wsrep-provider-options=${provider}`],
        `--wsrep-cluster-address=gcomm://${others.map((other) => `127.0.0.1:${other}`).join(',')}`,
        ...[`--wsrep-node-address=${address}`, '--wsrep-sst-method=skip'],
        ...['--binlog-format=ROW', '--innodb-autoinc-lock-mode=2', '--innodb-flush-log-at-trx-commit=0'],
        ...(position ? [`--wsrep-start-position=${position.uuid}:${position.seqno}`] : []),
      ];
      return { ...served, args: [...served.args, ...galera] };
    },
  };
}

/** @param {Position} position */
function stateFile({ uuid, seqno }) {
  return `version: 2.1\nuuid: ${uuid}\nseqno: ${seqno}\nsafe_to_bootstrap: 0\n`;
}

/** @param {string} url @returns {Promise<Position | undefined>} */
async function askPosition(url) {
  if ((await askStatus(url, 'wsrep_ready')) !== 'ON') return undefined;
  const uuid = await askStatus(url, 'wsrep_cluster_state_uuid');
  return { uuid, seqno: await askStatus(url, 'wsrep_last_committed') };
}

/** @param {string} url @param {string} name @returns {Promise<string>} */
async function askStatus(url, name) {
  const { createConnection } = await import('mysql2/promise');
  const connection = await createConnection({ uri: url, connectTimeout: 10_000 });
  try {
    const [rows] = await connection.query({ sql: `SHOW GLOBAL STATUS LIKE '${name}'`, timeout: 10_000 });
    return /** @type {{ Value: string }[]} */ (rows)[0].Value;
  } finally {
    connection.destroy();
  }
}
