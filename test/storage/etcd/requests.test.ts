import assert from 'node:assert/strict';
import type { Lock } from 'cronlatch';
import type { EtcdLockProvider } from 'cronlatch/etcd';
import { SettableClock } from 'cronlatch/testing';
import { etcd, EtcdPlace } from '../../support/etcd-place';
import { observedGateway, type ObservedGateway } from '../../support/etcd-gateway';
import { testOn } from '../../support/test-on';

const JOB = { name: 'job', lockAtMostFor: '10m' };

async function granted(provider: EtcdLockProvider, job: object = JOB): Promise<Lock> {
  const lock = await provider.lock({ ...JOB, ...job });
  assert.ok(lock);
  return lock;
}

function testRequests(
  name: string,
  body: (provider: EtcdLockProvider, gateway: ObservedGateway, place: EtcdPlace) => Promise<void>,
): void {
  testOn('etcd', name, async () => {
    const place = new EtcdPlace();
    const gateway = await observedGateway();
    const provider = place.provider({ endpoints: gateway.url });
    try {
      await body(provider, gateway, place);
    } finally {
      await provider.close();
      await gateway.close();
      await place.dispose();
    }
  });
}

testRequests('a grant costs three requests, and a release two', async (provider, gateway) => {
  await granted(provider, { name: 'first' });
  gateway.takePaths();
  const lock = await granted(provider);
  assert.deepEqual(gateway.takePaths(), ['kv/range', 'lease/grant', 'kv/txn']);
  await lock.unlock();
  await provider.close();
  assert.deepEqual(gateway.takePaths(), ['kv/txn', 'lease/revoke']);
});

testRequests('a refusal costs one read, and writes nothing', async (provider, gateway, place) => {
  const holder = place.provider();
  await granted(holder);
  await provider.lock(JOB);
  gateway.takePaths();
  assert.equal(await provider.lock(JOB), undefined);
  assert.deepEqual(gateway.takePaths(), ['kv/range']);
  await holder.close();
});

testRequests(
  'an extension and a release during lockAtLeastFor cost three requests',
  async (provider, gateway) => {
    const lock = await granted(provider, { lockAtLeastFor: '1m' });
    gateway.takePaths();
    assert.equal(await lock.extend('5m'), true);
    assert.deepEqual(gateway.takePaths().slice(0, 2), ['lease/grant', 'kv/txn']);
    await lock.unlock();
    await provider.close();
    assert.deepEqual(gateway.takePaths().toSorted(), [
      'kv/txn',
      'lease/grant',
      'lease/revoke',
      'lease/revoke',
    ]);
  },
);

testRequests('the first lock also reads the id of the place', async (provider, gateway, place) => {
  assert.equal(provider.id, undefined);
  await granted(provider);
  assert.deepEqual(gateway.takePaths(), ['kv/txn', 'kv/range', 'lease/grant', 'kv/txn']);
  const other = place.provider();
  await other.lock({ ...JOB, name: 'other' });
  assert.match(String(provider.id), /^etcd\/[0-9a-f-]{36}$/);
  assert.equal(other.id, provider.id);
  await other.close();
});

testRequests('the id of the options wins, and nothing else is a lock', async (_provider, _gateway, place) => {
  const named = place.provider({ id: 'payroll' });
  await granted(named);
  assert.equal(named.id, 'payroll');
  assert.deepEqual(
    (await named.list({})).map(({ name }) => name),
    ['job'],
  );
  await named.close();
});

testRequests(
  'after 200 ticks that were granted, refused or raced, no lease is left',
  async (provider, gateway) => {
    for (let round = 0; round < 20; round += 1) {
      const asked = await Promise.all(Array.from({ length: 4 }, () => provider.lock(JOB)));
      const locks = asked.filter((lock) => lock !== undefined);
      assert.equal(locks.length, 1);
      for (let tick = 0; tick < 6; tick += 1) assert.equal(await provider.lock(JOB), undefined);
      if (round % 2) await locks[0]?.extend('5m');
      await locks[0]?.unlock();
    }
    await provider.close();
    const leases = gateway.requests.filter(({ path }) => path === 'lease/grant').map(({ body }) => body.ID);
    assert.ok(leases.length > 30 && new Set(leases).size === leases.length);
    const left = await Promise.all(leases.map((ID) => etcd(gateway.url, 'lease/timetolive', { ID })));
    assert.deepEqual([...new Set(left.map(({ TTL }) => TTL))], ['-1']);
  },
);

testRequests(
  'a lease is rounded up to whole seconds, and to what the server grants',
  async (_provider, gateway, place) => {
    // Its own clock stands still, so that the server may take longer than a third of half a second.
    const provider = place.provider({ endpoints: gateway.url, clock: new SettableClock() });
    for (const [lockAtMostFor, least] of [
      ['500ms', 1],
      ['2s500ms', 3],
      ['365d', 31_536_000],
    ] as const) {
      const lock = await granted(provider, { lockAtMostFor });
      const { body } = gateway.requests.findLast(({ path }) => path === 'lease/grant') ?? {};
      assert.equal(body?.TTL, least);
      const { grantedTTL } = await etcd(gateway.url, 'lease/timetolive', { ID: body.ID });
      assert.ok(Number(grantedTTL) >= Math.max(2, least));
      assert.ok(lock.remainingMs() <= least * 1000);
      await lock.unlock();
    }
    await provider.close();
  },
);

testRequests(
  'the value of a key names the owner and the end of the lease, for people',
  async (provider, _, place) => {
    await granted(provider);
    const [key] = await place.keys();
    const value = JSON.parse(Buffer.from(key?.value ?? '', 'base64').toString()) as Record<string, string>;
    const [state] = await provider.list({});
    assert.deepEqual(value, { owner: state?.lockedBy, lockUntil: state?.lockUntil.toISOString() });
  },
);
