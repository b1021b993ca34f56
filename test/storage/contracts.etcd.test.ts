import { testLockContract } from '../support/stores/contract-tests';
import { etcdFixture } from '../support/stores/etcd-place';

testLockContract('etcd', 'etcd', { fixture: () => etcdFixture() });
