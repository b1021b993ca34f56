import assert from 'node:assert/strict';
import { LockStorageError } from 'cronlatch';
import { closing } from '../../../support/benches/closing';
import { ownServer } from '../../../support/servers/own';
import { testOnOwn } from '../../../support/servers/test-on';
import { EtcdPlace } from '../../../support/stores/etcd-place';

const JOB = { name: 'job', lockAtMostFor: '10m' };

testOnOwn(
  'etcd',
  'a killed server grants nothing, and afterwards the holder still has its lock',
  async () => {
    await using server = closing(await ownServer('etcd'));
    const place = new EtcdPlace(new URL(server.url).origin);
    const [provider, other] = [place.provider({ statementTimeout: '1s' }), place.provider()];
    const lock = await provider.lock(JOB);
    assert.ok(lock);
    await server.kill();
    await assert.rejects(other.lock(JOB), LockStorageError);
    await assert.rejects(other.probe(1000), LockStorageError);
    assert.equal(lock.signal.aborted, false);
    await server.restart();
    assert.equal(await other.lock(JOB), undefined);
    assert.equal(await lock.extend('5m'), true);
    assert.equal(await lock.unlock(), true);
    const next = await other.lock(JOB);
    assert.ok((next?.fencingToken ?? 0) > (lock.fencingToken ?? Infinity));
    await Promise.all([provider.close(), other.close()]);
  },
);
