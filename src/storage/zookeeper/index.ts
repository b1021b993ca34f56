export type { Answer, NodeStat, ZooKeeperAcl, ZooKeeperClient } from './zookeeper-client';
export { ZooKeeperLockProvider, type ZooKeeperLockProviderOptions } from './zookeeper-lock-provider';
