import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

import { findJava, java } from '../java.mjs';

/** Of the server and of its quorum. An installation would bring Tomcat and Jetty, too. */
const jars = [
  'zookeeper',
  'zookeeper-jute',
  'slf4j-api',
  'slf4j-simple',
  'metrics-core',
  'snappy-java',
  'netty-buffer',
  'netty-common',
  'netty-handler',
  'netty-transport',
];
const packages = {
  packagePrefix: 'libzookeeper-java',
  only: /^lib(slf4j|dropwizard-metrics|snappy|netty)-java$/,
};

/**
 * ZooKeeper. Alone, or as a member of an ensemble.
 *
 * @param {{ id: number, servers: string }} [member] `servers`: the lines that are the same for all members
 * @returns {import('../types.mjs').Recipe}
 */
export function zookeeper(member) {
  return {
    name: 'zookeeper',
    label: 'ZooKeeper',
    containerPort: 2181,
    packages: { debian: packages, ubuntu: packages },
    needs: [java],

    async find(root) {
      const folder = join(root ?? '/', 'usr/share/java');
      const place = join(folder, 'zookeeper.jar');
      if (!existsSync(place)) throw new Error(`there is no ${place}`);
      const version = versionIn(await readdir(folder));
      const objection = objectionTo(version);
      if (objection) throw new Error(`${place} is not usable: ${objection}`);
      const classes = jars.map((name) => join(folder, `${name}.jar`)).join(':');
      return { file: await findJava(), args: ['-cp', classes], root, version, place };
    },

    async initialize() {
      // It needs only an empty folder.
    },

    serve(_program, folder, port) {
      const file = join(folder, 'zoo.cfg');
      const data = join(folder, 'data');
      mkdirSync(data, { recursive: true });
      if (member) writeFileSync(join(data, 'myid'), `${member.id}\n`);
      writeFileSync(file, settings(data, port, member?.servers ?? ''));
      return {
        args: [...options, 'org.apache.zookeeper.server.quorum.QuorumPeerMain', file],
        // A member of an ensemble then looks for the others.
        ready: member ? /LOOKING/ : /PrepRequestProcessor .*started/,
      };
    },

    sharesDatabase: true,
    url: (port) => `zookeeper://127.0.0.1:${port}`,

    async askVersion(url) {
      for (const end = Date.now() + 30_000; ;) {
        const answer = await askServer(url);
        const version = /^Zookeeper version: (\d[\d.]*\d)/m.exec(answer)?.[1];
        if (version !== undefined) return version;
        if (!/not currently serving/.test(answer) || Date.now() > end) return answer.trim();
        // Ready to listen is not yet ready to serve, and nothing announces when it is.
        await delay(20);
      }
    },

    objectionTo,
  };
}

/**
 * What a server reports of itself: its version, and its part in an ensemble.
 *
 * @param {string} url
 * @param {number} [limitMs]
 * @returns {Promise<string>}
 */
export async function askServer(url, limitMs = 10_000) {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.setTimeout(limitMs, () => socket.destroy(new Error(`no answer in ${limitMs} ms`)));
  socket.end('srvr');
  return await text(socket);
}

/** For a quick start and little memory; what is not flushed is lost when the machine crashes, not the server. */
const options = [
  '-Xmx128m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Xshare:auto',
  // Its file in /tmp would outlive a killed server.
  '-XX:-UsePerfData',
  '-Dzookeeper.forceSync=no',
];

/** @param {string} data @param {number} port @param {string} servers */
function settings(data, port, servers) {
  return `tickTime=500
initLimit=20
syncLimit=4
dataDir=${data}
clientPort=${port}
clientPortAddress=127.0.0.1
admin.enableServer=false
maxClientCnxns=0
minSessionTimeout=1000
maxSessionTimeout=60000
4lw.commands.whitelist=srvr
${servers}`;
}

/** The package has the jar under two names, one with its version. @param {string[]} files */
function versionIn(files) {
  const [version] = files.flatMap((name) => /^zookeeper-(\d[\d.]*\d)\.jar$/.exec(name)?.[1] ?? []);
  return version ?? 'without a version in its name';
}

/** @param {string} version */
function objectionTo(version) {
  const [major, minor] = version.split('.').map(Number);
  if (major > 3 || (major === 3 && minor >= 8)) return undefined;
  return Number.isInteger(minor) ? `it is older than 3.8 (${version})` : `it is not ZooKeeper (${version})`;
}
