import { EtcdLockProvider } from 'cronlatch/etcd';
import { RedisLockProvider } from 'cronlatch/redis';
import type { Lock, LockConfiguration } from 'cronlatch';
import type { LockObserver, LockProvider } from 'cronlatch/provider';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { Redis, type RedisOptions } from 'ioredis';
import { createClient, State } from 'node-zookeeper-client';
import type { LockOrders } from './orders';

interface Limits {
  readonly statementTimeout: string;
}

/** A provider, and how to close it with everything below it. */
export interface OpenProvider {
  readonly provider: LockProvider;
  close(): Promise<void>;
}

/** A provider for the servers of the orders, which may be down at the moment. */
export function openProvider(orders: LockOrders, limits: Limits): OpenProvider {
  switch (orders.server) {
    case 'redis':
    case 'sentinel':
      return redis(orders, limits);
    case 'etcd': {
      const endpoints = orders.ports.map((port) => `http://127.0.0.1:${port}`);
      const provider = new EtcdLockProvider({ endpoints, ...limits });
      return { provider, close: () => provider.close() };
    }
    case 'zookeeper':
      return new RenewedZooKeeper(orders.ports, limits);
  }
}

function redis({ ports, urls, sentinels, wait }: LockOrders, limits: Limits): OpenProvider {
  const connection: RedisOptions =
    sentinels.length === 0
      ? { host: '127.0.0.1', port: ports[0] ?? 0 }
      : {
          name: 'main',
          sentinels: sentinels.map(addressOf),
          natMap: Object.fromEntries(
            urls.map((url, index) => [new URL(url).host, { host: '127.0.0.1', port: ports[index] ?? 0 }]),
          ),
        };
  const client = new Redis({ ...connection, retryStrategy: () => 100 });
  const clients = wait ? [client, client.duplicate()] : [client];
  for (const each of clients) each.on('error', () => {}); // The rejected commands report it.
  const [, own] = clients;
  const provider = new RedisLockProvider({
    id: 'chaos',
    client,
    ...(own && { wait: { client: own, replicas: 1, timeout: '500ms' } }),
    onWarning: () => {},
    ...limits,
  });
  return {
    provider,
    async close() {
      await provider.close();
      client.disconnect();
    },
  };
}

function addressOf(url: string): { host: string; port: number } {
  const { hostname, port } = new URL(url);
  return { host: hostname, port: Number(port) };
}

/** As long as the longest lease. */
const SESSION_MS = 3000;
const CHECK_EVERY_MS = 1000;
/** Elections take less. */
const LONGEST_SILENCE_MS = 5000;

/**
 * What the page of ZooKeeper asks of applications: a new client and a new provider after the end of a session, and if no
 * answer comes, because this client never gives up a connection.
 */
class RenewedZooKeeper implements LockProvider, OpenProvider {
  readonly provider = this;
  readonly #limits: Limits;
  readonly #servers: string;
  readonly #checks: NodeJS.Timeout;
  #current: OpenZooKeeper;

  constructor(ports: readonly number[], limits: Limits) {
    this.#servers = ports.map((port) => `127.0.0.1:${port}`).join(',');
    this.#limits = limits;
    this.#current = this.#open();
    this.#checks = setInterval(() => void this.#check(), CHECK_EVERY_MS);
  }

  lock(configuration: LockConfiguration, observer?: LockObserver): Promise<Lock | undefined> {
    return this.#current.provider.lock(configuration, observer);
  }

  async close(): Promise<void> {
    clearInterval(this.#checks);
    await this.#current.close();
  }

  async #check(): Promise<void> {
    const current = this.#current;
    try {
      await current.provider.probe(LONGEST_SILENCE_MS);
      current.answeredMs = performance.now();
    } catch {
      if (performance.now() - current.answeredMs > LONGEST_SILENCE_MS) this.#renew(current);
    }
  }

  #renew(current: OpenZooKeeper): void {
    if (this.#current !== current) return;
    this.#current = this.#open();
    void current.close();
  }

  #open(): OpenZooKeeper {
    const client = createClient(this.#servers, { sessionTimeout: SESSION_MS, spinDelay: 100 });
    const provider = new ZooKeeperLockProvider({ client, ...this.#limits });
    const opened: OpenZooKeeper = {
      provider,
      answeredMs: performance.now(),
      async close() {
        await provider.close();
        client.close();
      },
    };
    client.on('state', (state) => {
      if (state === State.EXPIRED) this.#renew(opened);
    });
    client.connect();
    return opened;
  }
}

interface OpenZooKeeper extends Pick<OpenProvider, 'close'> {
  readonly provider: ZooKeeperLockProvider;
  answeredMs: number;
}
