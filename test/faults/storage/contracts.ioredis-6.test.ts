import { testLockContract } from '../../support/stores/contract-tests';
import { RedisPlaces } from '../../support/stores/redis-places';

testLockContract('redis', 'redis', new RedisPlaces('ioredis-6'), 'through ioredis-6');
