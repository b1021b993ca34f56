// More of this subject: storage/contracts.etcd.test.ts, faults/storage/etcd, faults/campaign/locks, docs/etcd.test.ts
import assert from 'node:assert/strict';
import type { Lock } from 'cronlatch';
import type { EtcdLockProvider } from 'cronlatch/etcd';
import { SettableClock } from 'cronlatch/testing';
import { JOB, testEtcd } from '../../support/benches/etcd';
import { etcd } from '../../support/stores/etcd-place';

async function granted(provider: EtcdLockProvider, job: object = JOB): Promise<Lock> {
  const lock = await provider.lock({ ...JOB, ...job });
  assert.ok(lock);
  return lock;
}

testEtcd('a grant costs three requests, and a release two', async ({ provider, gateway }) => {
  await granted(provider, { name: 'first' });
  gateway.takePaths();
  const lock = await granted(provider);
  assert.deepEqual(gateway.takePaths(), ['kv/range', 'lease/grant', 'kv/txn']);
  await lock.unlock();
  await provider.close();
  assert.deepEqual(gateway.takePaths(), ['kv/txn', 'lease/revoke']);
});

testEtcd('a refusal costs one read, and writes nothing', async ({ provider, gateway, open }) => {
  await granted(open());
  await provider.lock(JOB);
  gateway.takePaths();
  assert.equal(await provider.lock(JOB), undefined);
  assert.deepEqual(gateway.takePaths(), ['kv/range']);
});

testEtcd(
  'an extension and a release during lockAtLeastFor cost three requests',
  async ({ provider, gateway }) => {
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

testEtcd('the first lock also reads the id of the place', async ({ provider, gateway, open }) => {
  assert.equal(provider.id, undefined);
  await granted(provider);
  assert.deepEqual(gateway.takePaths(), ['kv/txn', 'kv/range', 'lease/grant', 'kv/txn']);
  const other = open();
  await other.lock({ ...JOB, name: 'other' });
  assert.match(String(provider.id), /^etcd\/[0-9a-f-]{36}$/);
  assert.equal(other.id, provider.id);
});

testEtcd('the id of the options wins, and nothing else is a lock', async ({ open }) => {
  const named = open({ id: 'payroll' });
  await granted(named);
  assert.equal(named.id, 'payroll');
  assert.deepEqual(
    (await named.list({})).map(({ name }) => name),
    ['job'],
  );
});

testEtcd(
  'after 200 ticks that were granted, refused or raced, no lease is left',
  async ({ provider, gateway }) => {
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

testEtcd(
  'a lease is rounded up to whole seconds, and to what the server grants',
  async ({ gateway, open }) => {
    // Its own clock stands still, so that the server may take longer than a third of half a second.
    const provider = open({ endpoints: gateway.url, clock: new SettableClock() });
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
  },
);

testEtcd(
  'the value of a key names the owner and the end of the lease, for people',
  async ({ provider, place }) => {
    await granted(provider);
    const [key] = await place.keys();
    const value = JSON.parse(Buffer.from(key?.value ?? '', 'base64').toString()) as Record<string, string>;
    const [state] = await provider.list({});
    assert.deepEqual(value, { owner: state?.lockedBy, lockUntil: state?.lockUntil.toISOString() });
  },
);
