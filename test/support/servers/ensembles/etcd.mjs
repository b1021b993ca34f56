import { freePort } from '../free-port.mjs';
import { etcd } from '../recipes/etcd.mjs';
import { answersOf, eventually, LONGEST_ANSWER_MS, startTogether, stopAll } from './ensemble.mjs';

/** @param {number} size @param {(line: string) => void} log @returns {Promise<import('./ensemble.mjs').Ensemble>} */
export async function startEtcds(size, log) {
  const peers = await Promise.all(
    Array.from({ length: size }, async (_, index) => ({
      name: `member-${index + 1}`,
      peer: `http://127.0.0.1:${await freePort()}`,
    })),
  );
  const cluster = peers.map(({ name, peer }) => `${name}=${peer}`).join(',');
  const members = await startTogether(
    peers.map((peer) => etcd({ ...peer, cluster })),
    log,
  );
  return {
    name: 'etcd',
    version: members[0].version,
    members,
    urls: members.map(({ url }) => url),
    leader: () =>
      eventually('A leader of etcd', async () => {
        const answers = await answersOf(members, askStatus);
        // A leader that was cut off takes itself for one for a while, but the majority does not.
        const isLeader = (/** @type {string} */ id) =>
          answers.filter(({ answer }) => answer.leader === id).length > size / 2;
        return answers.find(({ answer }) => isLeader(answer.header.member_id))?.server;
      }),
    settled: () =>
      eventually('The followers of the leader of etcd', async () => {
        const leaders = (await answersOf(members, askStatus)).map(({ answer }) => answer.leader);
        return (leaders.length === size && leaders[0] && new Set(leaders).size === 1) || undefined;
      }),
    stop: () => stopAll(members),
  };
}

/** @param {string} url @returns {Promise<{ leader?: string, header: { member_id: string } }>} */
async function askStatus(url) {
  const signal = AbortSignal.timeout(LONGEST_ANSWER_MS);
  const answer = await fetch(new URL('/v3/maintenance/status', url), { method: 'POST', body: '{}', signal });
  return /** @type {any} */ (await answer.json());
}
