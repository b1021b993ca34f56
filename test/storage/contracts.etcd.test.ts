import { testLockContract } from '../support/contract-tests';
import { etcdFixture } from '../support/etcd-place';

testLockContract('etcd', 'etcd', { fixture: () => etcdFixture() });
