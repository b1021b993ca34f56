import assert from 'node:assert/strict';
import { RedisLockProvider } from 'cronlatch/redis';

export async function use() {
  const client = () => Promise.reject(new Error('READONLY You can not write against a read only replica.'));
  const provider = new RedisLockProvider({ id: 'use', client, onWarning: () => {} });
  await assert.rejects(provider.lock({ name: 'job', lockAtMostFor: '1m' }), { driverCode: 'READONLY' });
  await provider.close();
}
