import assert from 'node:assert/strict';
import { suite } from 'node:test';
import { LockStorageError } from 'cronlatch';
import type { EtcdLockProvider } from 'cronlatch/etcd';
import { JOB, testEtcd, type EtcdBench } from '../../support/benches/etcd';
import { eventually } from '../../support/clocks/eventually';
import type { Fault, ObservedGateway, SentRequest } from '../../support/faults/etcd-gateway';
import { etcd } from '../../support/stores/etcd-place';

interface Scene extends EtcdBench {
  /** Directly, without faults. */
  readonly other: EtcdLockProvider;
}

/** The place of the provider is known already. */
function testLost(name: string, body: (scene: Scene) => Promise<void>): void {
  testEtcd(name, async (bench) => {
    await bench.provider.lock({ ...JOB, name: 'first' });
    await body({ ...bench, other: bench.open() });
  });
}

/** The fault of the next request to this path, once. */
function next(path: string, fault: Fault): (sent: SentRequest) => Fault | undefined {
  let hasHappened = false;
  return (sent) => {
    if (hasHappened || sent.path !== path) return undefined;
    hasHappened = true;
    return fault;
  };
}

/** The leases that the provider was granted and that still last. */
async function leasesOf({ requests, url }: ObservedGateway): Promise<readonly string[]> {
  const ids = new Set(requests.map(({ path, body }) => (path === 'lease/grant' ? body.ID : undefined)));
  const lasting: string[] = [];
  for (const ID of ids)
    if (ID !== undefined && (await etcd(url, 'lease/timetolive', { ID })).TTL !== '-1') lasting.push(ID);
  return lasting;
}

// What is unknown is read near the time limit of the statement.
void suite('lost replies', { concurrency: 8 }, () => {
  testLost('a grant that was lost on its way is sent again', async ({ gateway, provider, other }) => {
    gateway.fault = next('kv/txn', 'keep');
    const lock = await provider.lock(JOB);
    assert.ok(lock);
    await gateway.release(); // The first one arrives late, and changes nothing.
    assert.equal((await other.inspect(JOB.name))?.fencingToken, lock.fencingToken);
    assert.equal(await other.lock(JOB), undefined);
    assert.equal(await lock.unlock(), true);
  });

  testLost(
    'a late grant that overtakes its repetition has the same holder',
    async ({ gateway, provider, other }) => {
      const kept = next('kv/txn', 'keep');
      let releases: Promise<unknown> = Promise.resolve();
      gateway.fault = (sent) => {
        // The repetition renews the lease first. Then the late one arrives, before the repetition itself.
        if (sent.path === 'lease/keepalive') releases = gateway.release();
        return kept(sent);
      };
      const lock = await provider.lock(JOB);
      await releases;
      assert.ok(lock);
      assert.equal((await other.inspect(JOB.name))?.fencingToken, lock.fencingToken);
      assert.equal(await lock.extend('5m'), true);
      assert.equal(await lock.unlock(), true);
      assert.ok(await other.lock(JOB));
    },
  );

  testLost('a lease whose reply was lost is used, and then revoked', async ({ gateway, provider }) => {
    const before = await leasesOf(gateway);
    gateway.fault = next('lease/grant', 'lose-reply');
    const lock = await provider.lock(JOB);
    assert.equal((await leasesOf(gateway)).length, before.length + 1);
    assert.equal(await lock?.unlock(), true);
    await provider.close();
    assert.deepEqual(await leasesOf(gateway), before);
  });

  testLost(
    'a release whose reply was lost is a release, and leaves no lease',
    async ({ gateway, provider, other }) => {
      const before = await leasesOf(gateway);
      const lock = await provider.lock(JOB);
      gateway.fault = next('kv/txn', 'lose-reply');
      assert.equal(await lock?.unlock(), true);
      assert.ok(await other.lock(JOB));
      await provider.close();
      assert.deepEqual(await leasesOf(gateway), before);
    },
  );

  testLost('a release whose reply was lost keeps lockAtLeastFor', async ({ gateway, provider, other }) => {
    const lock = await provider.lock({ ...JOB, lockAtLeastFor: '1m' });
    gateway.fault = next('kv/txn', 'lose-reply');
    assert.equal(await lock?.unlock(), true);
    assert.equal(await other.lock(JOB), undefined);
    assert.match((await other.inspect(JOB.name))?.lockedBy ?? '', /\/released$/);
  });

  testLost('an unconfirmed extension that arrives late does not shorten its successor', async (scene) => {
    const { gateway, provider, place } = scene;
    const lock = await provider.lock(JOB);
    gateway.fault = next('kv/txn', 'keep');
    assert.equal(await lock?.extend('20m'), true); // The first try is kept, the second one confirmed.
    const [, second] = gateway.requests.filter(({ path }) => path === 'lease/grant').slice(-2);
    const [answer] = await gateway.release();
    assert.doesNotMatch(answer ?? '', /succeeded/);
    const held = (await place.keys()).find(({ key }) =>
      Buffer.from(key, 'base64').toString().endsWith('/job'),
    );
    assert.equal(held?.lease, second?.body.ID);
    assert.equal(await lock?.extend('20m'), true);
    assert.equal(await lock?.unlock(), true);
  });

  testLost(
    'a release that the server refused at first is a release',
    async ({ gateway, provider, other }) => {
      for (const [error, code] of [
        ['etcdserver: too many requests', 8],
        ['etcdserver: permission denied', 7],
      ] as const) {
        const lock = await provider.lock(JOB);
        gateway.fault = next('kv/txn', { status: 400, answer: { error, code } });
        assert.equal(await lock?.unlock(), true);
        const successor = await other.lock(JOB);
        assert.equal(await successor?.unlock(), true);
      }
    },
  );

  testLost('a caller that loses a race has no lease when it learns that', async (scene) => {
    const { gateway, provider, other } = scene;
    const held = await other.lock(JOB);
    gateway.takePaths();
    gateway.fault = next('kv/range', { answer: { header: { revision: '1' } } }); // As it was before that grant.
    assert.equal(await provider.lock(JOB), undefined);
    const requests = ['kv/range', 'lease/grant', 'kv/txn', 'lease/revoke'];
    assert.deepEqual(gateway.takePaths().slice(0, 4), requests);
    assert.equal(await held?.unlock(), true);
  });

  testLost(
    'a grant whose reply was lost keeps its lockAtLeastFor, too',
    async ({ gateway, provider, other }) => {
      gateway.fault = next('kv/txn', 'lose-reply');
      const lock = await provider.lock({ ...JOB, lockAtLeastFor: '1m' });
      assert.equal(await lock?.unlock(), true);
      assert.equal(await other.lock(JOB), undefined);
    },
  );

  /** What the provider learns about a transaction that the server has executed. */
  const MISLEADING: readonly (readonly [string, Fault])[] = [
    ['its reply is lost', 'lose-reply'],
    ['a proxy has stopped waiting', { status: 504, answer: '<html>Gateway Timeout</html>', ran: true }],
    ['a proxy has lost the server', { status: 502, answer: 'Bad Gateway', ran: true }],
    // etcd compares the size of its database when it executes a request, too, and answers this after it.
    [
      'the database is full from now on',
      { status: 429, answer: { error: 'etcdserver: mvcc: database space exceeded', code: 8 }, ran: true },
    ],
  ];

  for (const [why, fault] of MISLEADING) {
    testLost(`a grant is found if ${why}`, async ({ gateway, provider, other }) => {
      gateway.fault = next('kv/txn', fault);
      const lock = await provider.lock(JOB);
      assert.ok(lock);
      assert.equal(await other.lock(JOB), undefined);
      assert.equal((await other.inspect(JOB.name))?.fencingToken, lock.fencingToken);
      assert.equal(await lock.unlock(), true);
      assert.ok(await other.lock(JOB));
    });

    testLost(`an extension is found if ${why}`, async ({ gateway, provider, other }) => {
      const lock = await provider.lock(JOB);
      gateway.fault = next('kv/txn', fault);
      assert.equal(await lock?.extend('20m'), true);
      assert.equal(lock?.signal.aborted, false);
      assert.equal(await other.lock(JOB), undefined);
      assert.equal(await lock?.unlock(), true);
      assert.ok(await other.lock(JOB));
    });
  }

  testLost('an extension that the server refused leaves no lease', async ({ gateway, provider }) => {
    const lock = await provider.lock(JOB);
    const before = await leasesOf(gateway);
    gateway.fault = next('kv/txn', {
      status: 403,
      answer: { error: 'etcdserver: permission denied', code: 7 },
    });
    await assert.rejects(lock?.extend('20m') ?? Promise.resolve(), { outcome: 'nothing-ran' });
    gateway.fault = next('lease/grant', {
      status: 429,
      answer: { error: 'space exceeded', code: 8 },
      ran: true,
    });
    await assert.rejects(lock?.extend('20m') ?? Promise.resolve(), { outcome: 'nothing-ran' });
    await provider.close();
    assert.deepEqual(await leasesOf(gateway), before);
  });

  for (const lockAtLeastFor of [0, '1s'])
    testLost(
      `a late grant of a failed attempt with lockAtLeastFor ${lockAtLeastFor} is ended`,
      async (scene) => {
        const { gateway, provider, other } = scene;
        const keepsGrants = ({ path, body }: SentRequest): Fault | undefined =>
          path === 'kv/txn' && JSON.stringify(body).includes('"CREATE"') ? 'keep' : undefined;
        gateway.fault = keepsGrants;
        await assert.rejects(provider.lock({ ...JOB, lockAtLeastFor }), LockStorageError);
        await provider.close(); // Sends the release that the attempt has left behind.
        const answers = await gateway.release();
        assert.ok(answers.length > 0);
        for (const answer of answers) assert.match(answer, /lease not found/);
        assert.ok(await other.lock(JOB));
      },
    );

  testLost('if the replies to all leases are lost, they are revoked, and the lock is free', async (scene) => {
    const { gateway, provider, other } = scene;
    const before = await leasesOf(gateway);
    gateway.fault = ({ path }) => (path === 'lease/grant' ? 'lose-reply' : undefined);
    await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran' });
    await provider.close();
    assert.deepEqual(await leasesOf(gateway), before);
    assert.ok(await other.lock(JOB));
  });

  testLost('a store that stays silent does not let a job run', async ({ gateway, provider, other }) => {
    gateway.fault = () => 'keep';
    await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran' });
    await assert.rejects(provider.probe(300), LockStorageError);
    gateway.fault = () => undefined;
    await gateway.release();
    await eventually(async () => (await other.lock(JOB)) !== undefined, 'the lock is free');
  });
});
