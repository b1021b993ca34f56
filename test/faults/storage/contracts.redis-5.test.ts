import { testLockContract } from '../../support/contract-tests';
import { RedisPlaces } from '../../support/redis-places';

testLockContract('redis', 'redis', new RedisPlaces('redis-5'), 'through redis-5');
