import {
  codeOf,
  EPHEMERAL_SEQUENTIAL,
  NO_NODE,
  NODE_EXISTS,
  PERSISTENT,
  type NodeStat,
  type ZooKeeperAcl,
} from './zookeeper-client';
import type { Request, ZooKeeperSession } from './zookeeper-session';

/** Requests about single nodes, which are sent again until they have an answer. */
export class NodeRequests {
  constructor(
    readonly session: ZooKeeperSession,
    private readonly acl: ZooKeeperAcl | undefined,
  ) {}

  /** Creates a node without data, unless it is there. */
  async ensure(path: string): Promise<void> {
    await this.session
      .persist(this.#creation(path, Buffer.alloc(0), PERSISTENT))
      .catch((error: unknown) => isCode(error, NODE_EXISTS));
  }

  /** Creates an ephemeral node, whose number the server adds to the path. Sent only once. */
  async createNumbered(path: string, data: Buffer): Promise<void> {
    await this.session.send(this.#creation(path, data, EPHEMERAL_SEQUENTIAL));
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
    const stop = this.session.watch((state) => state === 'ended' && fire());
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
    const removed = this.session.send<[]>((client, answer) => client.remove(path, answer));
    return (await orMissing(removed)) !== undefined;
  }

  /** Removes a node as soon as the client is connected. */
  async discard(path: string): Promise<void> {
    await this.#ask<[]>((client, answer) => client.remove(path, answer));
  }

  #ask<T extends unknown[]>(request: Request<T>): Promise<T | undefined> {
    return orMissing(this.session.persist(request));
  }

  #creation(path: string, data: Buffer, mode: number): Request<[string]> {
    // The client takes the type of its own package, or nothing.
    const acl = this.acl as never[];
    return (client, answer) => client.create(path, data, acl, mode, answer);
  }
}

async function orMissing<T>(answer: Promise<T>): Promise<T | undefined> {
  return await answer.catch((error: unknown) => isCode(error, NO_NODE));
}

/** @throws any other error */
function isCode(error: unknown, code: number): undefined {
  if (codeOf(error) !== code) throw error;
}
