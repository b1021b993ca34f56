import { randomBytes } from 'node:crypto';
import { Redis } from 'ioredis';
import type { BenchPlace, Server } from '../databases/bench-database';

/** A Redis, with keys that nothing else uses. */
export interface BenchRedis extends BenchPlace {
  /** The one connection of every row, because ioredis sends the requests of all workers on it together. */
  readonly client: Redis;
  /** The beginning of every key. */
  readonly prefix: string;
}

/** They decide which locks a crash of the server loses. */
const SETTINGS = ['appendonly', 'appendfsync'];

/** All keys expire within ten minutes, so nothing is deleted at the end. */
export async function openRedis({ url }: Server): Promise<BenchRedis> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => {}); // The rejected command reports it.
  await client.connect();
  const found = await Promise.all(SETTINGS.map((name) => client.config('GET', name)));
  return {
    client,
    prefix: `cronlatch-bench-${randomBytes(6).toString('hex')}:`,
    options: { url },
    durability: found.map((pair) => (pair as string[]).join(' = ')).join(', '),
    counters: undefined,
    [Symbol.asyncDispose]: () => Promise.resolve(client.disconnect()),
  };
}
