import { LockStorageError, type LockRecord, type LockRequest, type NamedLockRecord } from '../../core';
import { newOwner } from '../../core/lease/owner';
import { encodeNodeName, queueOf, type QueuedNode, decodeNodeName } from './node-names';
import { codeOf, CONNECTION_LOSS, NO_NODE, type NodeStat } from './zookeeper-client';
import type { ZooKeeperSession } from './zookeeper-session';
import type { LeaseAccessor, LockRecordPage, StatementOptions } from '../../core/lease/storage-accessor';

/** What a node shows people. No decision depends on it. */
export interface NodeTimes {
  readonly lockedAt: Date;
  readonly lockUntil: Date;
}

/** A place of this process in the queue of a lock. */
export interface OwnNode extends Pick<QueuedNode, 'owner' | 'path'> {
  /** Whether the node holds the lock. It does so until it is gone. */
  readonly isFirst: boolean;
}

/** An attempt to enter a queue. It goes on until it has an answer, or is abandoned. */
export interface Entry {
  readonly entered: Promise<OwnNode>;
  /** Removes the node, now or when it appears. Never rejects. */
  abandon(): void;
}

/**
 * The nodes of all locks. A lock is a node below the root, and each of its children is a place in its queue: ephemeral,
 * sequential, and named after its owner. The first one holds the lock.
 */
export class LockNodes {
  /** Identifies the root, once it is known. */
  place: string | undefined;
  readonly #removals = new Set<Promise<unknown>>();

  constructor(
    readonly session: ZooKeeperSession,
    readonly root: string,
  ) {}

  pathOf(name: string): string {
    return `${this.root}/${encodeNodeName(name)}`;
  }

  async queueOf(lock: string): Promise<readonly QueuedNode[]> {
    return queueOf(lock, await this.session.children(lock));
  }

  enter(lock: string, times: NodeTimes, instance?: string): Entry {
    const owner = newOwner(instance);
    let isOver = false;
    const entered = this.#enter(lock, owner, times, () => isOver);
    entered.catch(() => {}); // Its callers get the error.
    const removeAll = async (): Promise<void> => {
      await entered.catch(() => {});
      const own = (await this.#settledQueue(lock)).filter((node) => node.owner === owner);
      await Promise.all(own.map(({ path }) => this.session.discard(path)));
      await this.session.remove(lock);
    };
    const abandon = (): void => {
      isOver = true;
      void this.#inBackground(removeAll());
    };
    return { entered, abandon };
  }

  /** @returns whether the node was there */
  async remove({ path }: Pick<OwnNode, 'path'>): Promise<boolean> {
    const removed = this.session.remove(path);
    this.#sweep(path);
    return await removed;
  }

  /** Removes a node that is no longer needed, as soon as the client is connected. Never rejects. */
  async discard({ path }: Pick<OwnNode, 'path'>): Promise<void> {
    const discarded = this.session.discard(path);
    this.#sweep(path);
    await this.#inBackground(discarded);
  }

  async settled(): Promise<void> {
    while (this.#removals.size > 0) await Promise.all(this.#removals);
  }

  async #enter(lock: string, owner: string, times: NodeTimes, isOver: () => boolean): Promise<OwnNode> {
    this.place ??= await this.#findRoot();
    while (!isOver()) {
      let queue: readonly QueuedNode[];
      try {
        // The server keeps the order of a session. So the list is at least as new as the own node.
        [, , queue] = await Promise.all([
          this.session.ensure(lock),
          this.session.createNumbered(`${lock}/${encodeNodeName(owner)}-`, dataOf(owner, times)),
          this.queueOf(lock),
        ]);
      } catch (error) {
        // The reply is lost, or the node of the lock was removed meanwhile.
        if (codeOf(error) === NO_NODE) this.place = await this.#findRoot();
        else if (codeOf(error) !== CONNECTION_LOSS) throw error;
        queue = await this.#settledQueue(lock);
      }
      // A client that sends requests again itself may have created further nodes.
      const [own, ...further] = queue.filter((node) => node.owner === owner);
      for (const node of further) void this.discard(node);
      if (own !== undefined) return { ...own, isFirst: own === queue[0] };
    }
    throw new LockStorageError(`The attempt at ${lock} was abandoned.`);
  }

  /** The queue with the effects of all earlier requests: a server that lags behind executes them before a write. */
  async #settledQueue(lock: string): Promise<readonly QueuedNode[]> {
    await this.session.confirm(this.root);
    return await this.queueOf(lock);
  }

  /** Removes the node of a lock, unless another node is in its queue. */
  #sweep(path: string): void {
    void this.#inBackground(this.session.remove(path.slice(0, path.lastIndexOf('/'))));
  }

  /** @returns the identity of the root, which is created if it is missing */
  async #findRoot(): Promise<string> {
    for (;;) {
      const [, stat] = (await this.session.read(this.root)) ?? [];
      if (stat !== undefined) return `zookeeper:${stat.czxid.toString('hex')}:${stat.ctime.toString('hex')}`;
      for (const { index } of this.root.matchAll(/(?!^)\/|$/g))
        await this.session.ensure(this.root.slice(0, index));
    }
  }

  /** A node that cannot be removed ends with its session, or is an empty node of a lock. */
  async #inBackground(removal: Promise<unknown>): Promise<void> {
    const settled = removal.catch(() => {}).finally(() => this.#removals.delete(settled));
    this.#removals.add(settled);
    await settled;
  }
}

export function dataOf(owner: string, times: NodeTimes): Buffer {
  return Buffer.from(JSON.stringify({ owner, ...times }));
}

/** What operators see and change: a lock with a queue is held by the first node. */
export class NodeRecords implements LeaseAccessor {
  readonly keepsTimeLimits = true;

  constructor(private readonly nodes: LockNodes) {}

  find(name: string, { timeoutMs }: StatementOptions): Promise<LockRecord | undefined> {
    const { session } = this.nodes;
    return session.within(timeoutMs, `lock '${name}'`, () => this.#holderOf(name));
  }

  list(
    { after, limit }: LockRecordPage,
    { timeoutMs }: StatementOptions,
  ): Promise<readonly NamedLockRecord[]> {
    const { session, root } = this.nodes;
    return session.within(timeoutMs, 'the list of locks', async () => {
      const names = (await session.children(root)).flatMap((node) => decodeNodeName(node) ?? []).sort();
      const records: NamedLockRecord[] = [];
      for (const name of names.filter((each) => after === undefined || each > after)) {
        if (records.length === limit) break;
        const record = await this.#holderOf(name);
        if (record !== undefined) records.push({ ...record, name });
      }
      return records;
    });
  }

  /** Removes the node of the holder, if it is this owner. */
  unlock({ name, owner }: LockRequest, { timeoutMs }: StatementOptions): Promise<boolean> {
    const { nodes } = this;
    return nodes.session.within(timeoutMs, `lock '${name}'`, async () => {
      const [first] = await nodes.queueOf(nodes.pathOf(name));
      return first?.owner === owner && (await nodes.remove(first));
    });
  }

  /** Operators do not extend locks. */
  extend(): Promise<boolean> {
    return Promise.resolve(false);
  }

  async #holderOf(name: string): Promise<LockRecord | undefined> {
    const { nodes } = this;
    for (;;) {
      const [first] = await nodes.queueOf(nodes.pathOf(name));
      if (first === undefined) return undefined;
      const [data, stat] = (await nodes.session.read(first.path)) ?? [];
      // Otherwise it was released meanwhile.
      if (stat !== undefined)
        return { lockedBy: first.owner, held: true, lockUntil: endIn(data), fencingToken: tokenOf(stat) };
    }
  }
}

/** Nodes of other programs hold other data. */
function endIn(data: Buffer | undefined): Date {
  const [, lockUntil = ''] = /"lockUntil":"([^"]+)"/.exec(String(data)) ?? [];
  return new Date(Date.parse(lockUntil) || 0);
}

/** @throws LockStorageError for a token that is not a safe integer */
export function tokenOf({ czxid }: NodeStat): number {
  const token = Number(czxid.readBigInt64BE());
  if (Number.isSafeInteger(token)) return token;
  throw new LockStorageError(
    `The zxid ${token} of ZooKeeper is too large for a fencing token, which is a number of up to 53 bits.`,
    { outcome: 'nothing-ran' },
  );
}
