import assert from 'node:assert/strict';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';

export async function use() {
  // @ts-expect-error An object without the methods of a client.
  const create = () => new ZooKeeperLockProvider({ client: {} });
  await assert.rejects(Promise.resolve().then(create), { code: 'CRONLATCH_INVALID_CONFIGURATION' });
}
