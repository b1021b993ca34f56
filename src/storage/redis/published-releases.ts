import { InvalidLockConfigurationError, systemClock } from '../../core';
import { isIoredis, isNodeRedis, kindOf, type IoredisClient, type NodeRedisClient } from './redis-client';

type OnMessage = (message: string, channel: string) => void;

/** `client.duplicate()` of ioredis. */
export interface IoredisSubscriber extends IoredisClient {
  subscribe(channel: string): Promise<unknown>;
  unsubscribe(channel: string): Promise<unknown>;
}

/** `client.duplicate()` of node-redis. */
export interface NodeRedisSubscriber extends NodeRedisClient {
  connect(): Promise<unknown>;
  subscribe(channel: string, listener: OnMessage): Promise<unknown>;
  unsubscribe(channel: string, listener: OnMessage): Promise<unknown>;
}

export type RedisSubscriber = IoredisSubscriber | NodeRedisSubscriber;

interface Channel {
  /** Each waits for this time at most, and then reads the record. */
  readonly waiters: Set<(leftMs: number) => void>;
  readonly subscribed: Promise<unknown>;
}

/** Wakes the waiters of a lock when its release is published or its lease ends. They share one subscription. */
export class PublishedReleases {
  readonly #channels = new Map<string, Channel>();
  #connected: Promise<unknown> | undefined;
  #isClosed = false;
  readonly #onMessage: OnMessage = (leftMs, channel) => this.#notify(channel, Number(leftMs));

  /** @param readLeftMs how much longer the lock with this key is held */
  constructor(
    private readonly subscriber: RedisSubscriber,
    private readonly readLeftMs: (key: string) => Promise<number>,
  ) {
    if (!(isIoredis(subscriber) || isNodeRedis(subscriber)) || typeof subscriber.subscribe !== 'function')
      throw new InvalidLockConfigurationError(
        `subscriber of RedisLockProvider is ${kindOf(subscriber)}: pass client.duplicate().`,
      );
    // node-redis calls the listener of each subscription instead.
    subscriber.on('message', (channel = '', leftMs = '') => this.#onMessage(leftMs, channel));
  }

  /** Never rejects. A waiter that cannot be notified makes another attempt instead. */
  released(key: string, signal: AbortSignal): Promise<void> {
    if (this.#isClosed) return Promise.resolve();
    return new Promise((resolve) => {
      const known = this.#channels.get(key);
      const channel: Channel = known ?? { waiters: new Set(), subscribed: this.#subscribe(key) };
      this.#channels.set(key, channel);
      let cancelTimer = (): void => {};
      const end = (): void => {
        cancelTimer();
        signal.removeEventListener('abort', end);
        if (channel.waiters.delete(wait) && channel.waiters.size === 0) this.#close(key, channel);
        resolve();
      };
      const read = (): void => void this.readLeftMs(key).then(wait, end);
      const wait = (leftMs: number): void => {
        cancelTimer();
        if (!channel.waiters.has(wait)) return;
        if (!(leftMs > 0)) end();
        else if (leftMs < Infinity)
          cancelTimer = systemClock.schedule(Math.ceil(leftMs), read, { keepAlive: false });
      };
      channel.waiters.add(wait);
      signal.addEventListener('abort', end);
      channel.subscribed.then(read, end);
      if (signal.aborted) end();
    });
  }

  /** Ends all waits. Later ones end at once. */
  close(): void {
    this.#isClosed = true;
    for (const key of [...this.#channels.keys()]) this.#notify(key, 0);
  }

  async #subscribe(key: string): Promise<unknown> {
    const { subscriber } = this;
    if ('call' in subscriber) return await subscriber.subscribe(key);
    if (!subscriber.isOpen) this.#connected = subscriber.connect();
    await this.#connected;
    return await subscriber.subscribe(key, this.#onMessage);
  }

  #close(key: string, { subscribed }: Channel): void {
    const { subscriber } = this;
    this.#channels.delete(key);
    const unsubscribe = (): Promise<unknown> | undefined => {
      if (this.#channels.has(key)) return undefined; // By a later waiter.
      return 'call' in subscriber
        ? subscriber.unsubscribe(key)
        : subscriber.unsubscribe(key, this.#onMessage);
    };
    subscribed.then(unsubscribe).catch(() => {}); // The connection is lost, and its subscriptions with it.
  }

  #notify(key: string, leftMs: number): void {
    for (const wait of [...(this.#channels.get(key)?.waiters ?? [])]) wait(leftMs);
  }
}
