import { LockStorageError, systemClock } from '../../core';
import { withinLimitOr } from '../../core/clock';
import { describeValue } from '../../core/options';
import {
  codeOf,
  CONNECTION_LOSS,
  EPHEMERAL_SEQUENTIAL,
  NO_NODE,
  NODE_EXISTS,
  PERSISTENT,
  SESSION_EXPIRED,
  type Answer,
  type NodeStat,
  type ZooKeeperAcl,
  type ZooKeeperClient,
} from './zookeeper-client';

const EXPIRED = 'its session has expired';

type Request<T extends unknown[]> = (client: ZooKeeperClient, answer: Answer<T>) => void;

/**
 * The session of the application's client, and the requests about single nodes, which are sent again until they have an
 * answer. The client keeps requests while it is disconnected and sends them later, it never gives up a connection that does
 * not answer, and after the end of its session it never gets another one.
 */
export class ZooKeeperSession {
  /** Why this session can never be used again. */
  end: string | undefined;
  readonly #watches = new Set<(state: 'connected' | 'ended') => void>();
  #connecting: Promise<void> | undefined;

  constructor(
    private readonly client: ZooKeeperClient,
    private readonly acl: ZooKeeperAcl | undefined,
  ) {
    client.on('state', this.#onState);
  }

  /** As agreed with the server, in milliseconds. */
  get timeoutMs(): number {
    return this.client.getSessionTimeout();
  }

  /** @returns a function that stops watching */
  watch(onState: (state: 'connected' | 'ended') => void): () => void {
    this.#watches.add(onState);
    return () => void this.#watches.delete(onState);
  }

  /** @throws LockStorageError if the client is not connected, or the body has not ended, within the time limit */
  async within<T>(timeoutMs: number, subject: string, body: () => Promise<T>): Promise<T> {
    const endsAtMs = systemClock.monotonicMs() + timeoutMs;
    const limited = <R>(promise: Promise<R>, failure: () => Error): Promise<R> =>
      withinLimitOr(systemClock, promise, endsAtMs - systemClock.monotonicMs(), failure);
    const limit = `${subject} within ${Math.max(0, Math.round(timeoutMs))} ms`;
    const notConnected = (): Error =>
      new LockStorageError(
        `The ZooKeeper client did not connect for ${limit}. Call client.connect(), and check its servers.`,
        { outcome: 'nothing-ran' },
      );
    const noAnswer = (): Error => new LockStorageError(`ZooKeeper did not answer for ${limit}.`);
    try {
      if (this.client.getState().name !== 'SYNC_CONNECTED') await limited(this.#connected(), notConnected);
      return await limited(body(), noAnswer);
    } catch (error) {
      throw failureOf(error, subject);
    }
  }

  /** Creates a node without data, unless it is there. */
  async ensure(path: string): Promise<void> {
    await this.#persist(this.#creation(path, Buffer.alloc(0), PERSISTENT)).catch((error: unknown) =>
      isCode(error, NODE_EXISTS),
    );
  }

  /** Creates an ephemeral node, whose number the server adds to the path. Sent only once. */
  async createNumbered(path: string, data: Buffer): Promise<void> {
    await this.#send(this.#creation(path, data, EPHEMERAL_SEQUENTIAL));
  }

  /** @returns no names if the node is not there */
  async children(path: string): Promise<readonly string[]> {
    return (await this.#ask<[string[]]>((client, answer) => client.getChildren(path, answer)))?.[0] ?? [];
  }

  read(path: string): Promise<[Buffer | undefined, NodeStat] | undefined> {
    return this.#ask((client, answer) => client.getData(path, answer));
  }

  /**
   * @returns when the node is deleted, or the session ends, or at once if the node is not there: `exists` would leave a
   *   watch behind. The node has no children, so only its deletion fires a watch on them. Its data change with each
   *   grant and extension.
   */
  async deleted(path: string): Promise<void> {
    let fire = (): void => {};
    const fired = new Promise<void>((resolve) => (fire = resolve));
    const stop = this.watch((state) => state === 'ended' && fire());
    try {
      const found = await this.#ask<[string[]]>((client, answer) => client.getChildren(path, fire, answer));
      if (found !== undefined) await fired;
    } finally {
      stop();
    }
  }

  async write(path: string, data: Buffer): Promise<NodeStat | undefined> {
    return (await this.#ask<[NodeStat]>((client, answer) => client.setData(path, data, answer)))?.[0];
  }

  /** @returns whether the node is there, by the leader of the ensemble. So the session lasts. */
  async confirm(path: string): Promise<boolean> {
    const check: Request<[]> = (client, answer) => client.transaction().check(path).commit(answer);
    return (await this.#ask(check)) !== undefined;
  }

  /** Sent only once. @returns whether the node was there */
  async remove(path: string): Promise<boolean> {
    const removed = this.#send<[]>((client, answer) => client.remove(path, answer));
    return (await orMissing(removed)) !== undefined;
  }

  /** Removes a node as soon as the client is connected. */
  async discard(path: string): Promise<void> {
    await this.#ask<[]>((client, answer) => client.remove(path, answer));
  }

  ended(reason = this.end): LockStorageError {
    return new LockStorageError(
      `The ZooKeeper client cannot be used any more: ${reason}. Create a new client, and a new lock provider with it.`,
      { outcome: 'nothing-ran' },
    );
  }

  close(reason: string): void {
    this.client.removeListener('state', this.#onState);
    if (this.end !== undefined) return;
    this.end = reason;
    for (const watch of [...this.#watches]) watch('ended');
  }

  /** Sends a request, or lets the client send it when it is connected. Rejects with the error of the client. */
  async #send<T extends unknown[]>(request: Request<T>): Promise<T> {
    if (this.end !== undefined) throw this.ended();
    let stopWatching = (): void => {};
    const [error, ...values] = await new Promise<[unknown, ...T] | [unknown]>((resolve) => {
      // The client never answers a request that it has not sent before its session expired.
      stopWatching = this.watch((state) => state === 'ended' && resolve([this.ended()]));
      request(this.client, (...answer) => resolve(answer));
    }).finally(() => stopWatching());
    if (!error) return values as T;
    if (codeOf(error) === SESSION_EXPIRED) this.close(EXPIRED);
    throw this.end === undefined ? (error as Error) : this.ended();
  }

  /** Sends a request again until it has an answer, or the session ends. For requests that may be sent twice. */
  async #persist<T extends unknown[]>(request: Request<T>): Promise<T> {
    for (;;) {
      try {
        return await this.#send(request);
      } catch (error) {
        if (codeOf(error) !== CONNECTION_LOSS) throw error;
        await this.#connected();
      }
    }
  }

  readonly #onState = ({ name }: { readonly name: string }): void => {
    if (name === 'EXPIRED') this.close(EXPIRED);
    if (name === 'SYNC_CONNECTED') for (const watch of [...this.#watches]) watch('connected');
  };

  /** Resolves when the server has answered a request, or the session has ended. */
  #connected(): Promise<void> {
    return (this.#connecting ??= this.#connect().finally(() => (this.#connecting = undefined)));
  }

  async #connect(): Promise<void> {
    for (let failure: unknown = { code: CONNECTION_LOSS }; codeOf(failure) === CONNECTION_LOSS;) {
      let isAtOnce = true;
      // The option `retries` of the client has no effect on transactions.
      const checked = this.#send<[]>((client, answer) => {
        client
          .transaction()
          .check('/')
          .commit((error) => {
            if (isAtOnce && codeOf(error) === CONNECTION_LOSS) this.close('it was closed');
            answer(error);
          });
      });
      isAtOnce = false;
      failure = await checked.catch((error: unknown) => error);
    }
  }

  #ask<T extends unknown[]>(request: Request<T>): Promise<T | undefined> {
    return orMissing(this.#persist(request));
  }

  #creation(path: string, data: Buffer, mode: number): Request<[string]> {
    // The client takes the type of its own package, or nothing.
    const acl = this.acl as never[];
    return (client, answer) => client.create(path, data, acl, mode, answer);
  }
}

function failureOf(error: unknown, subject: string): LockStorageError {
  if (error instanceof LockStorageError) return error;
  const why = error instanceof Error ? error.message : describeValue(error);
  return new LockStorageError(`ZooKeeper failed on ${subject}: ${why}`, {
    cause: error,
    // ZooKeeper numbers the errors of its servers from -100 downwards.
    outcome: Number(codeOf(error)) <= -100 ? 'nothing-ran' : 'unknown',
    driverCode: error instanceof Error ? error.name : undefined,
  });
}

async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  return await answer.catch((error: unknown) => isCode(error, NO_NODE));
}

/** @throws any other error */
function isCode(error: unknown, code: number): undefined {
  if (codeOf(error) !== code) throw error;
}
