import assert from 'node:assert/strict';
import { closing } from '../../../support/benches/closing';
import { ownServer } from '../../../support/servers/own';
import { testOnOwn } from '../../../support/servers/test-on';
import { base64, etcd, EtcdPlace } from '../../../support/stores/etcd-place';

const JOB = { name: 'job', lockAtMostFor: '10m' };
const QUOTA = 'ETCD_QUOTA_BACKEND_BYTES';

testOnOwn('etcd', 'a full database grants nothing, and a holder can still release', async () => {
  process.env[QUOTA] = String(2 ** 20);
  await using server = closing(await ownServer('etcd').finally(() => delete process.env[QUOTA]));
  const endpoint = new URL(server.url).origin;
  const place = new EtcdPlace(endpoint);
  const provider = place.provider();
  const lock = await provider.lock(JOB);
  assert.ok(lock);
  const value = base64('x'.repeat(200_000));
  for (let writes = 1; ; writes += 1) {
    assert.ok(writes < 100, 'the database does not get full');
    const { error } = await etcd(endpoint, 'kv/put', { key: base64('filler'), value });
    if (error?.includes('space exceeded')) break;
  }
  await assert.rejects(provider.lock({ ...JOB, name: 'other' }), /disarm the alarm/);
  assert.equal(await lock.unlock(), true);
  assert.equal(await provider.inspect(JOB.name), undefined);
  await provider.close();
});
