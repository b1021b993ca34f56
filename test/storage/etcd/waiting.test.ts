import assert from 'node:assert/strict';
import { LockManager } from 'cronlatch';
import type { EtcdLockProvider } from 'cronlatch/etcd';
import { SettableClock } from 'cronlatch/testing';
import { observedGateway, type ObservedGateway } from '../../support/etcd-gateway';
import { EtcdPlace } from '../../support/etcd-place';
import { eventually } from '../../support/eventually';
import { testOn } from '../../support/test-on';

const JOB = { name: 'job', lockAtMostFor: '10m' };

/** The server has begun the watch, and the provider knows it. */
async function begun(provider: EtcdLockProvider, gateway: ObservedGateway): Promise<void> {
  await eventually(() => gateway.openStreams === 1, 'the watch has begun');
  await provider.inspect('other');
}

testOn('etcd', 'a release wakes a waiter of a lock manager by a watch', async () => {
  const place = new EtcdPlace();
  const gateway = await observedGateway();
  const provider = place.provider({ endpoints: gateway.url });
  const manager = new LockManager(provider, { clock: new SettableClock() }); // It never polls.
  const held = await place.provider().lock(JOB);
  const waiting = manager.lock(JOB);
  await begun(provider, gateway);
  await held?.unlock();
  assert.equal(await (await waiting).unlock(), true);
  await manager.close();
  await provider.close();
  await gateway.close();
  await place.dispose();
});

testOn('etcd', 'the server ends the lease of a crashed holder itself, and the watch reports it', async () => {
  const place = new EtcdPlace();
  const [crashed, other] = [place.provider(), place.provider()];
  const sentAtMs = performance.now();
  const first = await crashed.lock({ ...JOB, lockAtMostFor: '6s' });
  await crashed.close();
  await other.released(JOB.name, new AbortController().signal);
  assert.ok(performance.now() - sentAtMs >= 6000);
  assert.equal(first?.signal.aborted, true);
  const next = await other.lock(JOB);
  assert.ok(next?.fencingToken !== undefined && next.fencingToken > (first.fencingToken ?? Infinity));
  await other.close();
  await place.dispose();
});

testOn('etcd', 'a free lock is not watched', async () => {
  const place = new EtcdPlace();
  const gateway = await observedGateway();
  const provider = place.provider({ endpoints: gateway.url });
  await provider.released(JOB.name, new AbortController().signal);
  assert.deepEqual(gateway.takePaths(), ['kv/range']);
  await provider.close();
  await gateway.close();
});

/** What ends a wait without a release. */
const ENDS: readonly (readonly [string, (gateway: ObservedGateway, place: EtcdPlace) => unknown])[] = [
  ['the server ends its stream', (gateway) => gateway.close()],
  ['an operator deletes the key', (_gateway, place) => place.delete(JOB.name)],
];

for (const [why, end] of ENDS)
  testOn('etcd', `a wait ends when ${why}`, async () => {
    const place = new EtcdPlace();
    const gateway = await observedGateway();
    const provider = place.provider({ endpoints: gateway.url });
    await place.provider().lock(JOB);
    const released = provider.released(JOB.name, new AbortController().signal);
    await begun(provider, gateway);
    await end(gateway, place);
    await released;
    await provider.close();
    await gateway.close();
    await place.dispose();
  });

testOn('etcd', 'an aborted wait, and a closed provider, leave no connection of a watch', async () => {
  const place = new EtcdPlace();
  const gateway = await observedGateway();
  const provider = place.provider({ endpoints: gateway.url });
  await place.provider().lock(JOB);
  const stop = new AbortController();
  const aborted = provider.released(JOB.name, stop.signal);
  await begun(provider, gateway);
  stop.abort();
  await aborted;
  await eventually(() => gateway.openStreams === 0, 'the stream has ended');
  await provider.released(JOB.name, stop.signal); // Of a signal that has aborted before.
  const closed = provider.released(JOB.name, new AbortController().signal);
  await begun(provider, gateway);
  await provider.close();
  await closed;
  await eventually(() => gateway.openStreams === 0, 'the stream has ended');
  await gateway.close();
  await place.dispose();
});

testOn('etcd', 'a watch that the server refuses is an error, so that waiters poll', async () => {
  const place = new EtcdPlace();
  const gateway = await observedGateway();
  gateway.fault = ({ path }) =>
    path === 'watch' ? { status: 403, answer: { error: 'no', code: 7 } } : undefined;
  const provider = place.provider({ endpoints: gateway.url });
  await place.provider().lock(JOB);
  await assert.rejects(provider.released(JOB.name, new AbortController().signal), /watch/);
  await provider.close();
  await gateway.close();
  await place.dispose();
});

testOn('etcd', 'a watch does not begin when its provider has closed meanwhile', async () => {
  const place = new EtcdPlace();
  const gateway = await observedGateway();
  const provider = place.provider({ endpoints: gateway.url });
  await place.provider().lock(JOB);
  let closed: Promise<void> | undefined;
  gateway.fault = ({ path }) => {
    if (path === 'kv/range') closed ??= provider.close(); // The read is repeated on a new connection.
    return undefined;
  };
  await assert.rejects(provider.released(JOB.name, new AbortController().signal), /watch/);
  await closed;
  assert.equal(gateway.takePaths().includes('watch'), false);
  await gateway.close();
  await place.dispose();
});
