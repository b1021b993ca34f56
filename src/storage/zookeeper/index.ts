export type { Answer, NodeStat, ZooKeeperAcl, ZooKeeperClient } from './zookeeper-client';
export type { ZooKeeperLockProviderOptions } from './zookeeper-lock-provider';
export { ZooKeeperLockProvider } from './zookeeper-lock-provider';
