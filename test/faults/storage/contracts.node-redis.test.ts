import { testLockContract } from '../../support/stores/contract-tests';
import { RedisPlaces } from '../../support/stores/redis-places';

testLockContract('redis', 'redis', new RedisPlaces('redis'), 'through redis');
