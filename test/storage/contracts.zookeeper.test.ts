import { testLockContract } from '../support/stores/contract-tests';
import { ZooKeeperPlaces } from '../support/stores/zookeeper-places';

testLockContract('zookeeper', 'zookeeper', new ZooKeeperPlaces());
