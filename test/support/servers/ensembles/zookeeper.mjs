import { freePort } from '../free-port.mjs';
import { askServer, zookeeper } from '../recipes/zookeeper.mjs';
import { answersOf, eventually, LONGEST_ANSWER_MS, startTogether, stopAll } from './ensemble.mjs';

/** @param {number} size @param {(line: string) => void} log @returns {Promise<import('./ensemble.mjs').Ensemble>} */
export async function startZookeepers(size, log) {
  const ids = Array.from({ length: size }, (_, index) => index + 1);
  const lines = ids.map(
    async (id) => `server.${id}=127.0.0.1:${await freePort()}:${await freePort()}:participant\n`,
  );
  const servers = (await Promise.all(lines)).join('');
  const members = await startTogether(
    ids.map((id) => zookeeper({ id, servers })),
    log,
  );
  return {
    name: 'zookeeper',
    version: members[0].version,
    members,
    urls: members.map(({ url }) => url),
    leader: () =>
      eventually('A leader of ZooKeeper', async () => {
        const answers = await answersOf(members, (url) => askServer(url, LONGEST_ANSWER_MS));
        const leaders = answers.filter(({ answer }) => /^Mode: leader$/m.test(answer));
        // One that was paused takes itself for the leader for a while, but in an earlier epoch.
        return leaders.sort((a, b) => epochIn(b.answer) - epochIn(a.answer))[0]?.server;
      }),
    settled: () =>
      eventually('The followers of the leader of ZooKeeper', async () => {
        const answers = await answersOf(members, (url) => askServer(url, LONGEST_ANSWER_MS));
        const modes = answers.map(({ answer }) => /^Mode: (\w+)$/m.exec(answer)?.[1]).sort();
        const followers = Array.from({ length: size - 1 }, () => 'follower');
        return `${modes}` === `${[...followers, 'leader']}` || undefined;
      }),
    stop: () => stopAll(members),
  };
}

/** @param {string} answer */
function epochIn(answer) {
  const [, digits = '0'] = /^Zxid: 0x(\w+)$/m.exec(answer) ?? [];
  return Number(BigInt(`0x${digits}`) >> 32n);
}
