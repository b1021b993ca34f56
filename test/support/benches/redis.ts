import { randomUUID } from 'node:crypto';
import type { TestContext } from 'node:test';
import { RedisLockProvider, type RedisCommandFunction, type RedisLockProviderOptions } from 'cronlatch/redis';
import { connectRedis, type ConnectedRedis, type RedisClientName } from '../servers/redis-clients';
import { urlOn } from '../servers/running';
import { testOn } from '../servers/test-on';

export const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;

/** Connections and lock providers of one test, which end with it. All of its keys begin with one prefix. */
export class RedisBench {
  readonly keyPrefix = `test-${randomUUID()}:`;

  private constructor(
    private readonly t: TestContext,
    readonly url: string,
    readonly connected: ConnectedRedis,
  ) {}

  static async open(t: TestContext, url: string, name: RedisClientName = 'ioredis'): Promise<RedisBench> {
    const connected = await connectRedis(name, url);
    t.after(() => connected.close());
    return new RedisBench(t, url, connected);
  }

  async connect(name: RedisClientName = 'ioredis', url = this.url): Promise<ConnectedRedis> {
    const connected = await connectRedis(name, url);
    this.t.after(() => connected.close());
    return connected;
  }

  provider(options: Partial<RedisLockProviderOptions> = {}): RedisLockProvider {
    const { keyPrefix, connected } = this;
    const provider = new RedisLockProvider({
      id: keyPrefix,
      keyPrefix,
      client: connected.client,
      ...options,
    });
    this.t.after(() => provider.close());
    return provider;
  }

  /** Sends one command as an operator does. */
  send(...command: readonly string[]): Promise<unknown> {
    return this.connected.send(...command);
  }

  /** A client as a function that records its commands. */
  recording(): { readonly client: RedisCommandFunction; readonly commands: (readonly string[])[] } {
    const commands: (readonly string[])[] = [];
    const client: RedisCommandFunction = (command) => {
      commands.push(command);
      return this.send(...command);
    };
    return { client, commands };
  }
}

/** A test on the Redis of the test run. */
export function testRedis(name: string, body: (bench: RedisBench, t: TestContext) => Promise<void>): void {
  testOn('redis', name, async (t) => await body(await RedisBench.open(t, urlOn('redis')), t));
}
