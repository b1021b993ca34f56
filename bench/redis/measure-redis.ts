import { JobGuard } from 'cronlatch';
import { RedisLockProvider } from 'cronlatch/redis';
import { libraryPairs, refusedTicks } from '../contenders/library';
import { CONTENDED_LOCK, LOCK_AT_MOST_FOR } from '../contenders/terms';
import type { Contender, Entry } from '../contest/contender';
import { together } from '../contest/locks';
import type { Contest, ContestSettings, Ground } from '../contest/contest';
import { runContest } from '../contest/run-contest';
import type { Table } from '../report/table';
import type { BenchRedis } from './redis-server';
import { bareTake, PEERS, preparePeer, type Take } from './takes';

const UNIT = 'every row uses one connection of ioredis';

/** The library's lock on Redis, beside others from npm that do the same work. */
export async function measureRedisLocks(
  settings: ContestSettings,
  ground: Ground<BenchRedis>,
): Promise<Table[]> {
  const redis = ground.database;
  const prepared = [];
  for (const peer of PEERS) prepared.push(await preparePeer(peer, redis));
  const driver = { name: 'driver alone', take: await bareTake(redis) };
  const peers = prepared.flatMap((peer) => ('take' in peer ? [peer] : []));
  const absent = prepared.flatMap((peer) => ('reason' in peer ? [peer] : []));
  const pairs = (workers: number): Contest => ({
    key: `pairs/${workers}`,
    title: workers === 1 ? 'pairs, one at a time' : `pairs, ${workers} at a time, each with its own name`,
    unit: `a pair is a lock and an unlock; ${UNIT}`,
    workers,
    baseline: pairsOf(driver),
    others: [
      { name: 'cronlatch/redis', open: () => Promise.resolve(libraryPairs(guardOn(redis), workers)) },
      ...peers.map(pairsOf),
    ],
    absent,
    hasPeers: true,
  });
  const refused = (workers: number): Contest => ({
    key: `refused/${workers}`,
    title: `attempts at one name that is held, by ${workers} instances`,
    unit: `an attempt is one tick that is refused; ${UNIT}`,
    workers,
    baseline: refusedOf(driver),
    others: [
      {
        name: 'cronlatch/redis',
        open: () => together(workers, () => Promise.resolve(refusedTicks(guardOn(redis)))),
      },
      ...peers.map(refusedOf),
    ],
    absent,
  });
  await providerOn(redis).lock({ name: CONTENDED_LOCK, lockAtMostFor: LOCK_AT_MOST_FOR });
  const tables: Table[] = [];
  for (const contest of [pairs(1), pairs(16), refused(16)])
    tables.push(await runContest(contest, settings, ground));
  return tables;
}

function providerOn({ client, prefix }: BenchRedis): RedisLockProvider {
  return new RedisLockProvider({
    id: 'bench',
    client,
    keyPrefix: `${prefix}cronlatch:`,
    onWarning: () => {},
  });
}

function guardOn(redis: BenchRedis): JobGuard {
  return new JobGuard({ lockProvider: providerOn(redis), logger: false });
}

interface NamedTake {
  readonly name: string;
  readonly take: Take;
}

function pairsOf({ name, take }: NamedTake): Entry {
  return {
    name,
    open: () =>
      contender(async (worker) => {
        const release = await take(`worker-${worker}`);
        if (release === undefined) throw new Error(`${name} refused a lock that is free.`);
        await release();
      }),
  };
}

function refusedOf({ name, take }: NamedTake): Entry {
  return {
    name,
    async open() {
      await take(CONTENDED_LOCK); // The first contender holds it from then on.
      return await contender(async () => {
        if ((await take(CONTENDED_LOCK)) !== undefined)
          throw new Error(`${name} granted a lock that is held.`);
      });
    },
  };
}

function contender(perform: (worker: number) => Promise<void>): Promise<Contender> {
  return Promise.resolve({ perform, [Symbol.asyncDispose]: () => Promise.resolve() });
}
