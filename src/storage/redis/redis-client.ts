import { InvalidLockConfigurationError, LockStorageError } from '../../core';
import { describeValue } from '../../core/options';

/** Sends a command, and resolves to its answer. `key` is the only key that it uses, so that a cluster finds its node. */
export type RedisCommandFunction = (command: readonly string[], key: string) => Promise<unknown>;

/** A `Redis` or a `Cluster` of ioredis 5 or 6. */
export interface IoredisClient {
  readonly status: string;
  readonly options?: { readonly keyPrefix?: string | undefined };
  call(command: string, ...args: string[]): Promise<unknown>;
  on(event: string, listener: (...args: string[]) => void): unknown;
  disconnect(): void;
}

/** A client, a pool, a sentinel or a cluster of node-redis 5 or 6. */
export interface NodeRedisClient {
  readonly isOpen: boolean;
  sendCommand(...args: never[]): Promise<unknown>;
  on(event: string, listener: (...args: string[]) => void): unknown;
  destroy(): unknown;
}

export type RedisClient = IoredisClient | NodeRedisClient | RedisCommandFunction;

/** Recognizes the client by its methods. Its state is checked with each command. */
export function commandFunctionOf(client: RedisClient, option = 'client'): RedisCommandFunction {
  if (typeof client === 'function') return client;
  if (isIoredis(client)) {
    // A client without it would use other keys, and channels never have it.
    if (client.options?.keyPrefix)
      throw new InvalidLockConfigurationError(
        `${option} of RedisLockProvider has a keyPrefix of its own, so clients without it would not share its locks. Pass client.duplicate({ keyPrefix: '' }), and give the prefix to RedisLockProvider as keyPrefix.`,
      );
    return ([name = '', ...args]) => {
      if (client.status === 'end') throw unusable('its connection has ended. Create a new client');
      return client.call(name, ...args);
    };
  }
  if (!isNodeRedis(client))
    throw new InvalidLockConfigurationError(
      `${option} of RedisLockProvider is ${kindOf(client)}: pass a client of ioredis or node-redis, or a function that sends one command.`,
    );
  const send = client.sendCommand.bind(client) as (...args: unknown[]) => Promise<unknown>;
  const before =
    'slots' in client ? (key: string) => [key, false] : 'getMasterNode' in client ? () => [false] : () => [];
  return (command, key) => {
    if (!client.isOpen) throw unusable('it is not connected. Call `await client.connect()` first');
    return send(...before(key), [...command]);
  };
}

/** `false` for a cluster, a sentinel or a pool. It is not known for a function. */
export function hasOneConnection(client: RedisClient): boolean {
  return !(
    'slots' in client ||
    'getMasterNode' in client ||
    'totalClients' in client ||
    ('isCluster' in client && client.isCluster === true)
  );
}

/** Returns a function that closes the connection. Without `onError`, an error of it would end the process. */
export function adopt(client: RedisClient, onError: (error: unknown) => void): () => Promise<void> {
  if (typeof client !== 'function') client.on('error', onError);
  return async () => {
    if (isIoredis(client)) client.disconnect();
    else if (isNodeRedis(client) && client.isOpen) await client.destroy();
  };
}

export function isIoredis(client: unknown): client is IoredisClient {
  return isObject(client) && typeof client['call'] === 'function' && typeof client['status'] === 'string';
}

export function isNodeRedis(client: unknown): client is NodeRedisClient {
  return isObject(client) && typeof client['sendCommand'] === 'function' && 'isOpen' in client;
}

/** Without the fields of an object, which may hold a password. */
export function kindOf(value: unknown): string {
  return isObject(value) ? 'an object without the methods of a known client' : describeValue(value);
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

function unusable(why: string): LockStorageError {
  return new LockStorageError(`The Redis client is not usable: ${why}.`, { outcome: 'nothing-ran' });
}
