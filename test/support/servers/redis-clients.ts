import { Redis } from 'ioredis';
import { Redis as Redis6 } from 'ioredis-6';
import { createClient } from 'redis';
import { createClient as createClient5 } from 'redis-5';
import type { IoredisClient, NodeRedisClient, NodeRedisSubscriber, RedisSubscriber } from 'cronlatch/redis';

/** The clients that users pass, in the versions that cronlatch supports. */
export const REDIS_CLIENTS = ['ioredis', 'ioredis-6', 'redis', 'redis-5'] as const;

export type RedisClientName = (typeof REDIS_CLIENTS)[number];

/** A connected client, and what a test does with it. */
export interface ConnectedRedis {
  readonly client: IoredisClient | NodeRedisClient;
  send(...command: readonly string[]): Promise<unknown>;
  /** A connection of its own, for messages. The provider connects it. */
  subscriber(): RedisSubscriber;
  /** A connection of its own, connected. */
  duplicate(): Promise<IoredisClient | NodeRedisClient>;
  close(): void;
}

const CONNECT: Readonly<Record<RedisClientName, (url: string) => Promise<ConnectedRedis>>> = {
  ioredis: (url) => ioredis(new Redis(url, { lazyConnect: true })),
  'ioredis-6': (url) => ioredis(new Redis6(url, { lazyConnect: true })),
  redis: (url) => nodeRedis(createClient({ url })),
  'redis-5': (url) => nodeRedis(createClient5({ url })),
};

export async function connectRedis(name: RedisClientName, url: string): Promise<ConnectedRedis> {
  return await CONNECT[name](url);
}

async function ioredis(client: Redis | Redis6): Promise<ConnectedRedis> {
  client.on('error', () => {}); // Without a listener, ioredis prints the errors of its connection.
  await client.connect();
  return {
    client,
    send: (name = '', ...args) => client.call(name, ...args),
    subscriber: () => client.duplicate({ lazyConnect: true }),
    async duplicate() {
      const another = client.duplicate({ lazyConnect: true });
      await another.connect();
      return another;
    },
    close: () => client.disconnect(),
  };
}

/** What both versions have. */
interface AnyNodeRedis extends NodeRedisSubscriber {
  sendCommand(command: string[]): Promise<unknown>;
  duplicate(): AnyNodeRedis;
}

async function nodeRedis(client: AnyNodeRedis): Promise<ConnectedRedis> {
  client.on('error', () => {}); // Without a listener, an error of its connection ends the process.
  await client.connect();
  return {
    client,
    send: (...command) => client.sendCommand([...command]),
    subscriber: () => client.duplicate(),
    async duplicate() {
      const another = client.duplicate();
      await another.connect();
      return another;
    },
    close: () => void client.destroy(),
  };
}
