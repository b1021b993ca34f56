import { Redis } from 'ioredis';
import { ensembleOf, ownRedisThatKeeps, type OwnServer } from '../../../support/servers/own';
import type { HeldLock, LockPlace } from './lock-place';

const PREFIX = 'cronlatch:';

/** One server, which keeps every answered write on disk: it forgets no lock when it is killed. */
export async function openRedis(): Promise<LockPlace> {
  const server = await ownRedisThatKeeps();
  return {
    ...operations(() => Promise.resolve(server)),
    version: server.version,
    servers: [server],
    ensemble: undefined,
    sentinels: [],
    close: () => server.stop(),
  };
}

/** A primary with two replicas and three sentinels, without files: a failover keeps what was replicated. */
export async function openSentinel(): Promise<LockPlace> {
  const ensemble = await ensembleOf('sentinel');
  return {
    ...operations(() => ensemble.leader()),
    version: ensemble.version,
    servers: ensemble.members,
    ensemble,
    sentinels: ensemble.urls,
    close: () => ensemble.stop(),
  };
}

function operations(
  primary: () => Promise<OwnServer>,
): Pick<LockPlace, 'protocol' | 'deleteLock' | 'heldLocks'> {
  return {
    protocol: 'redis',
    deleteLock: async (name) => void (await asking(await primary(), (client) => client.del(PREFIX + name))),
    heldLocks: async () => await asking(await primary(), heldIn),
  };
}

async function heldIn(client: Redis): Promise<readonly HeldLock[]> {
  const keys = await client.keys(`${PREFIX}job-*`);
  const values = keys.length === 0 ? [] : await client.mget(keys);
  return keys.flatMap((key, index) => {
    const [, owner, token, freeAt] = /^(.*) (\d+) \d+ (\d+)$/.exec(values[index] ?? '') ?? [];
    if (owner === undefined || freeAt !== '0') return []; // It has expired, or was released.
    return [{ name: key.slice(PREFIX.length), owner, token: Number(token) }];
  });
}

/** On a new connection, because earlier ones may have died with their server. */
async function asking<T>({ url }: OwnServer, ask: (client: Redis) => Promise<T>): Promise<T> {
  const limits = { connectTimeout: 5000, commandTimeout: 5000 };
  const client = new Redis(url, { ...limits, lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {}); // The rejected command reports it.
  try {
    await client.connect();
    return await ask(client);
  } finally {
    client.disconnect();
  }
}
