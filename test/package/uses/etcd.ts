import assert from 'node:assert/strict';
import { EtcdLockProvider } from 'cronlatch/etcd';

export async function use() {
  const provider = new EtcdLockProvider({ endpoints: 'http://127.0.0.1:1' }); // Nothing listens there.
  await assert.rejects(provider.probe(1000), { outcome: 'nothing-ran' });
  await provider.close();
}
