import { testLockContract } from '../support/contract-tests';
import { ZooKeeperPlaces } from '../support/zookeeper-places';

testLockContract('zookeeper', 'zookeeper', new ZooKeeperPlaces());
