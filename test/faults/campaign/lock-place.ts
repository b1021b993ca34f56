import { promisify } from 'node:util';
import { Redis } from 'ioredis';
import { createClient } from 'node-zookeeper-client';
import { closing } from '../../support/benches/closing';
import type { LockProtocol } from '../../support/faults/lock-proxy/lock-statements';
import { ensembleOf, ownRedisThatKeeps, type Ensemble, type OwnServer } from '../../support/servers/own';
import { base64, etcd } from '../../support/stores/etcd-place';
import type { LockServer } from './options';

/** A lock that was held when it was read. */
export interface HeldLock {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
}

/** Servers that keep the locks, while the ledger is elsewhere. */
export interface LockPlace {
  readonly protocol: LockProtocol;
  readonly version: string;
  /** The servers that a worker reaches through its proxies. */
  readonly servers: readonly OwnServer[];
  /** Left out: a single server. */
  readonly ensemble?: Ensemble;
  /** Of the sentinels. */
  readonly sentinels?: readonly string[];
  /** Deletes a lock as the operator. Rejects if that did not happen, as far as it is known. */
  deleteLock(name: string): Promise<void>;
  /** None for a store whose tokens are not the times of the grants: the judge could not compare them. */
  heldLocks(): Promise<readonly HeldLock[]>;
  close(): Promise<void>;
}

/** Opens the servers of a kind. */
export const OPEN_LOCKS: Readonly<Record<LockServer, () => Promise<LockPlace>>> = {
  /** One server, which keeps every answered write on disk: it forgets no lock when it is killed. */
  async redis() {
    const server = await ownRedisThatKeeps();
    const { version } = server;
    return {
      ...inRedis(() => Promise.resolve(server)),
      version,
      servers: [server],
      close: () => server.stop(),
    };
  },

  /** A primary with two replicas and three sentinels, without files: a failover keeps what was replicated. */
  async sentinel() {
    const ensemble = await ensembleOf('sentinel');
    return { ...inRedis(() => ensemble.leader()), ...ofEnsemble(ensemble), sentinels: ensemble.urls };
  },

  async zookeeper() {
    const ensemble = await ensembleOf('zookeeper');
    return {
      ...ofEnsemble(ensemble),
      protocol: 'zookeeper',
      async deleteLock(name) {
        const { url } = await ensemble.leader();
        await using client = closing(createClient(new URL(url).host, { sessionTimeout: 5000 }));
        const limit = AbortSignal.timeout(5000);
        client.connect();
        await Promise.race([deleteNodes(client, `/cronlatch/${name}`), rejectedBy(limit)]);
      },
      heldLocks: () => Promise.resolve([]),
    };
  },

  async etcd() {
    const ensemble = await ensembleOf('etcd');
    return {
      ...ofEnsemble(ensemble),
      protocol: 'etcd',
      async deleteLock(name) {
        const { url } = await ensemble.leader();
        const asked = etcd(url, 'kv/deleterange', { key: base64(`cronlatch/${name}`) });
        const { error } = await Promise.race([asked, rejectedBy(AbortSignal.timeout(5000))]);
        if (error !== undefined) throw new Error(error);
      },
      heldLocks: () => Promise.resolve([]),
    };
  },
};

function ofEnsemble(ensemble: Ensemble): Pick<LockPlace, 'version' | 'servers' | 'ensemble' | 'close'> {
  const { version, members } = ensemble;
  return { version, servers: members, ensemble, close: () => ensemble.stop() };
}

async function deleteNodes(client: ReturnType<typeof createClient>, lock: string): Promise<void> {
  const nodes = await promisify<string, string[]>(client.getChildren.bind(client))(lock);
  const remove = promisify<string, void>(client.remove.bind(client));
  // Those that wait behind the first one are the workers' own, and are gone with their attempts.
  await Promise.all(nodes.map((node) => remove(`${lock}/${node}`)));
}

function rejectedBy(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) =>
    signal.addEventListener('abort', () => reject(new Error('The time limit has passed.')), { once: true }),
  );
}

const REDIS_PREFIX = 'cronlatch:';

function inRedis(
  primary: () => Promise<OwnServer>,
): Pick<LockPlace, 'protocol' | 'deleteLock' | 'heldLocks'> {
  return {
    protocol: 'redis',
    deleteLock: async (name) =>
      void (await asking(await primary(), (client) => client.del(REDIS_PREFIX + name))),
    heldLocks: async () => await asking(await primary(), heldIn),
  };
}

async function heldIn(client: Redis): Promise<readonly HeldLock[]> {
  const keys = await client.keys(`${REDIS_PREFIX}job-*`);
  const values = keys.length === 0 ? [] : await client.mget(keys);
  return keys.flatMap((key, index) => {
    const [, owner, token, freeAt] = /^(.*) (\d+) \d+ (\d+)$/.exec(values[index] ?? '') ?? [];
    if (owner === undefined || freeAt !== '0') return []; // It has expired, or was released.
    return [{ name: key.slice(REDIS_PREFIX.length), owner, token: Number(token) }];
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
