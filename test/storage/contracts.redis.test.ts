import { testLockContract } from '../support/contract-tests';
import { RedisPlaces } from '../support/redis-places';

testLockContract('redis', 'redis', new RedisPlaces('ioredis'), 'through ioredis');
