import assert from 'node:assert/strict';
import { LockManager } from 'cronlatch';
import type { EtcdLockProvider } from 'cronlatch/etcd';
import { SettableClock } from 'cronlatch/testing';
import { JOB, testEtcd } from '../../support/benches/etcd';
import { eventually } from '../../support/clocks/eventually';
import type { ObservedGateway } from '../../support/faults/etcd-gateway';
import type { EtcdPlace } from '../../support/stores/etcd-place';

/** The server has begun the watch, and the provider knows it. */
async function begun(provider: EtcdLockProvider, gateway: ObservedGateway): Promise<void> {
  await eventually(() => gateway.openStreams === 1, 'the watch has begun');
  await provider.inspect('other');
}

testEtcd('a release wakes a waiter of a lock manager by a watch', async ({ gateway, provider, open }) => {
  const manager = new LockManager(provider, { clock: new SettableClock() }); // It never polls.
  const held = await open().lock(JOB);
  const waiting = manager.lock(JOB);
  await begun(provider, gateway);
  await held?.unlock();
  assert.equal(await (await waiting).unlock(), true);
  await manager.close();
});

testEtcd(
  'the server ends the lease of a crashed holder itself, and the watch reports it',
  async ({ open }) => {
    const [crashed, other] = [open(), open()];
    const sentAtMs = performance.now();
    const first = await crashed.lock({ ...JOB, lockAtMostFor: '6s' });
    await crashed.close();
    await other.released(JOB.name, new AbortController().signal);
    assert.ok(performance.now() - sentAtMs >= 6000);
    assert.equal(first?.signal.aborted, true);
    const next = await other.lock(JOB);
    assert.ok(next?.fencingToken !== undefined && next.fencingToken > (first.fencingToken ?? Infinity));
  },
);

testEtcd('a free lock is not watched', async ({ gateway, provider }) => {
  await provider.released(JOB.name, new AbortController().signal);
  assert.deepEqual(gateway.takePaths(), ['kv/range']);
});

/** What ends a wait without a release. */
const ENDS: readonly (readonly [string, (gateway: ObservedGateway, place: EtcdPlace) => unknown])[] = [
  ['the server ends its stream', (gateway) => gateway.close()],
  ['an operator deletes the key', (_gateway, place) => place.delete(JOB.name)],
];

for (const [why, end] of ENDS)
  testEtcd(`a wait ends when ${why}`, async ({ place, gateway, provider, open }) => {
    await open().lock(JOB);
    const released = provider.released(JOB.name, new AbortController().signal);
    await begun(provider, gateway);
    await end(gateway, place);
    await released;
  });

testEtcd(
  'an aborted wait, and a closed provider, leave no connection of a watch',
  async ({ gateway, provider, open }) => {
    await open().lock(JOB);
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
  },
);

testEtcd(
  'a watch that the server refuses is an error, so that waiters poll',
  async ({ gateway, provider, open }) => {
    gateway.fault = ({ path }) =>
      path === 'watch' ? { status: 403, answer: { error: 'no', code: 7 } } : undefined;
    await open().lock(JOB);
    await assert.rejects(provider.released(JOB.name, new AbortController().signal), /watch/);
  },
);

testEtcd(
  'a watch does not begin when its provider has closed meanwhile',
  async ({ gateway, provider, open }) => {
    await open().lock(JOB);
    let closed: Promise<void> | undefined;
    gateway.fault = ({ path }) => {
      if (path === 'kv/range') closed ??= provider.close(); // The read is repeated on a new connection.
      return undefined;
    };
    await assert.rejects(provider.released(JOB.name, new AbortController().signal), /watch/);
    await closed;
    assert.equal(gateway.takePaths().includes('watch'), false);
  },
);
