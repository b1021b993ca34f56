import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { LockStorageError } from 'cronlatch';
import { closing } from '../../support/benches/closing';
import { observedGateway } from '../../support/faults/etcd-gateway';
import { targetOf, tcpProxy, throughProxy } from '../../support/faults/tcp-proxy';
import { testOn } from '../../support/servers/test-on';
import { etcdEndpoint, EtcdPlace } from '../../support/stores/etcd-place';

const JOB = { name: 'job', lockAtMostFor: '10m' };

/** An address where nothing listens. */
async function deadEndpoint(): Promise<string> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return `http://127.0.0.1:${port}`;
}

testOn('etcd', 'an endpoint that refuses is skipped, and the good one comes first from then on', async () => {
  await using place = closing(new EtcdPlace());
  await using wrong = closing(await observedGateway());
  wrong.fault = () => ({ status: 503, answer: { error: 'etcdserver: no leader', code: 14 } });
  const endpoints = [await deadEndpoint(), wrong.url, etcdEndpoint()];
  await using provider = closing(place.provider({ endpoints }));
  const lock = await provider.lock(JOB);
  assert.ok(lock);
  assert.equal(wrong.requests.length, 1);
  assert.equal(await lock.unlock(), true);
  assert.equal(wrong.requests.length, 1);
});

testOn('etcd', 'if no endpoint can be reached, nothing ran', async () => {
  await using place = closing(new EtcdPlace());
  await using provider = closing(place.provider({ endpoints: [await deadEndpoint(), await deadEndpoint()] }));
  await assert.rejects(provider.lock(JOB), (error: LockStorageError) => {
    assert.ok(error instanceof LockStorageError);
    assert.equal(error.outcome, 'nothing-ran');
    assert.equal(error.driverCode, 'ECONNREFUSED');
    return true;
  });
});

testOn('etcd', 'a host name that does not exist is an error, and nothing ran', async () => {
  await using provider = closing(new EtcdPlace().provider({ endpoints: 'http://etcd.invalid:2379' }));
  await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran' });
});

testOn('etcd', 'a silent endpoint costs its share of the time limit, and the next one grants', async () => {
  await using place = closing(new EtcdPlace());
  await using proxy = closing(await tcpProxy(targetOf(etcdEndpoint())));
  proxy.stall();
  const endpoints = [throughProxy(etcdEndpoint(), proxy), etcdEndpoint()].map((url) => new URL(url).origin);
  await using provider = closing(place.provider({ endpoints, statementTimeout: '4s' }));
  const lock = await provider.lock(JOB);
  assert.equal(await lock?.unlock(), true);
});

testOn('etcd', 'a half-open connection does not keep a lock, and the holder can still release', async () => {
  await using place = closing(new EtcdPlace());
  await using proxy = closing(await tcpProxy(targetOf(etcdEndpoint())));
  const endpoints = new URL(throughProxy(etcdEndpoint(), proxy)).origin;
  await using provider = closing(place.provider({ endpoints, statementTimeout: '3s' }));
  const lock = await provider.lock(JOB);
  assert.ok(lock);
  proxy.stall('to-client'); // The server executes a request, and its answer gets lost.
  await assert.rejects(provider.lock({ ...JOB, name: 'other' }), LockStorageError);
  proxy.flow();
  assert.equal(await lock.extend('5m'), true);
  proxy.deafen(); // The connections that are open receive nothing more.
  assert.equal(await lock.unlock(), true);
  assert.equal((await provider.inspect(JOB.name))?.isHeld, undefined);
});

testOn('etcd', 'cut connections are opened again', async () => {
  await using place = closing(new EtcdPlace());
  await using proxy = closing(await tcpProxy(targetOf(etcdEndpoint())));
  await using provider = closing(
    place.provider({ endpoints: new URL(throughProxy(etcdEndpoint(), proxy)).origin }),
  );
  const lock = await provider.lock(JOB);
  assert.ok(proxy.cut() > 0);
  assert.equal(await lock?.extend('5m'), true);
  proxy.cut();
  assert.equal(await lock?.unlock(), true);
});

testOn('etcd', 'an address that speaks TLS to http: is an error, and nothing ran', async () => {
  await using provider = closing(
    new EtcdPlace().provider({ endpoints: etcdEndpoint().replace('http:', 'https:') }),
  );
  await assert.rejects(provider.lock(JOB), (error: LockStorageError) => {
    assert.equal(error.outcome, 'nothing-ran');
    assert.match(error.message, /whether the server wants http: or https:/);
    return true;
  });
});
