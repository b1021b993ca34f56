import type { TestContext } from 'node:test';
import { ZooKeeperLockProvider, type ZooKeeperLockProviderOptions } from 'cronlatch/zookeeper';
import type { Client, Option } from 'node-zookeeper-client';
import { lockProxy, type LockProxy } from '../faults/lock-proxy/lock-proxy';
import { targetOf } from '../faults/tcp-proxy';
import { urlOn } from '../servers/running';
import { testOn } from '../servers/test-on';
import { connectedClient, nodePath, removeNodes } from '../servers/zookeeper';

/** The session timeout of clients behind a proxy. */
const SESSION_MS = 3000;

export const JOB = { name: 'close-day', lockAtMostFor: '10m' } as const;

/** Instances of an application with a session each, and an operator. All of it ends with the test. */
export interface ZooKeeperBench {
  readonly path: string;
  /** Looks at the nodes, and changes them. */
  readonly operator: Client;
  readonly client: (options?: Partial<Option>) => Promise<Client>;
  readonly provider: (options?: Partial<ZooKeeperLockProviderOptions>) => Promise<ZooKeeperLockProvider>;
  /** A provider whose client reaches the server through a proxy. */
  behindProxy(
    options?: Partial<Option>,
    statementTimeout?: string,
  ): Promise<{
    readonly provider: ZooKeeperLockProvider;
    readonly client: Client;
    readonly proxy: LockProxy;
  }>;
}

export function testOnZooKeeper(
  name: string,
  body: (bench: ZooKeeperBench, t: TestContext) => Promise<void>,
): void {
  testOn('zookeeper', name, async (t) => {
    const path = nodePath();
    const ends: (() => unknown)[] = [];
    const client = async (options?: Partial<Option>, address?: string): Promise<Client> => {
      const connected = await connectedClient(address, options);
      ends.unshift(() => connected.close());
      return connected;
    };
    const provider = async (
      options: Partial<ZooKeeperLockProviderOptions> = {},
    ): Promise<ZooKeeperLockProvider> => {
      const created = new ZooKeeperLockProvider({
        client: options.client ?? (await client()),
        path,
        ...options,
      });
      ends.unshift(() => created.close());
      return created;
    };
    const operator = await client();
    try {
      await body(
        {
          path,
          operator,
          provider,
          client,
          async behindProxy(options, statementTimeout = '1s') {
            const proxy = await lockProxy(targetOf(urlOn('zookeeper')), 'zookeeper');
            ends.unshift(() => proxy.close());
            const address = `127.0.0.1:${proxy.port}`;
            const behind = await client({ sessionTimeout: SESSION_MS, ...options }, address);
            const own = await provider({ client: behind, statementTimeout });
            ends.unshift(() => proxy.flow());
            return { provider: own, client: behind, proxy };
          },
        },
        t,
      );
    } finally {
      await removeNodes(operator, path);
      for (const end of ends) await end();
    }
  });
}
