import { LockStorageError, type LockRecord, type LockRequest, type NamedLockRecord } from '../../core';
import type { LeaseAccessor, LockRecordPage, StatementOptions } from '../../core/lease/storage-accessor';
import type { LockNodes } from './lock-nodes';
import { decodeNodeName } from './node-names';
import type { NodeStat } from './zookeeper-client';

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
