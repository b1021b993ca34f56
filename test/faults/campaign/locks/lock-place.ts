import type { Ensemble, OwnServer } from '../../../support/servers/own';
import type { LockProtocol } from '../../../support/faults/lock-proxy/lock-statements';
import type { LockServer } from '../options';
import { openEtcd } from './etcd-place';
import { openRedis, openSentinel } from './redis-place';
import { openZooKeeper } from './zookeeper-place';

/** A lock that was held when it was read. */
export interface HeldLock {
  readonly name: string;
  readonly owner: string;
  readonly token: number;
}

/** Servers that keep the locks, while the ledger is elsewhere. */
export interface LockPlace {
  readonly protocol: LockProtocol;
  readonly version: string;
  /** The servers that a worker reaches through its proxies. */
  readonly servers: readonly OwnServer[];
  /** `undefined` for a single server. */
  readonly ensemble: Ensemble | undefined;
  /** Of the sentinels. */
  readonly sentinels: readonly string[];
  /** Deletes a lock as the operator. Rejects if that did not happen, as far as it is known. */
  deleteLock(name: string): Promise<void>;
  /** None for a store whose tokens are not the times of the grants: the judge could not compare them. */
  heldLocks(): Promise<readonly HeldLock[]>;
  close(): Promise<void>;
}

const OPEN: Readonly<Record<LockServer, () => Promise<LockPlace>>> = {
  redis: openRedis,
  sentinel: openSentinel,
  zookeeper: openZooKeeper,
  etcd: openEtcd,
};

export async function openLocks(server: LockServer): Promise<LockPlace> {
  return await OPEN[server]();
}
