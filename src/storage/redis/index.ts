export type { IoredisSubscriber, NodeRedisSubscriber, RedisSubscriber } from './published-releases';
export type { IoredisClient, NodeRedisClient, RedisClient, RedisCommandFunction } from './redis-client';
export {
  RedisLockProvider,
  type RedisLockProviderOptions,
  type RedisWaitOptions,
} from './redis-lock-provider';
