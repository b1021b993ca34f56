// More of this subject: storage/contracts.zookeeper.test.ts, faults/storage/zookeeper, faults/campaign/locks, docs/zookeeper.test.ts
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { test } from 'node:test';
import { createClient, ACL, Id, Permission, type Client } from 'node-zookeeper-client';
import { InvalidLockConfigurationError, LockStorageError } from 'cronlatch';
import { SettableClock } from 'cronlatch/testing';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { JOB, testOnZooKeeper } from '../../support/benches/zookeeper';
import { eventually } from '../../support/clocks/eventually';
import { childrenOf, connectedClient, removeNodes, zooKeeperAddress } from '../../support/servers/zookeeper';

const nowhere = (): Client => createClient('127.0.0.1:1', { spinDelay: 10 });

void test('anything but a client of node-zookeeper-client is refused', () => {
  for (const client of [undefined, null, {}, 'localhost:2181', { get: () => {} }])
    assert.throws(() => new ZooKeeperLockProvider({ client: client as unknown as Client }), {
      code: 'CRONLATCH_INVALID_CONFIGURATION',
      message: /^client is .*: pass a client of the package node-zookeeper-client/,
    });
});

void test('an invalid path, name length or time limit is refused', () => {
  const client = nowhere();
  for (const options of [{ path: '/locks/' }, { path: 'locks' }, { nameLength: 0 }, { statementTimeout: 0 }])
    assert.throws(() => new ZooKeeperLockProvider({ client, ...options }), InvalidLockConfigurationError);
  assert.equal(client.listenerCount('state'), 1, 'a provider that was refused listens to nothing');
});

void test('a client that was never connected is an error that names the fix, and nothing ran', async () => {
  const provider = new ZooKeeperLockProvider({ client: nowhere(), statementTimeout: '100ms' });
  await assert.rejects(provider.lock(JOB), (error: LockStorageError) => {
    assert.match(
      error.message,
      /did not connect for lock 'close-day' within \d+ ms\. Call client\.connect\(\)/,
    );
    return error.outcome === 'nothing-ran';
  });
});

void test('attempts without a connection leave one request in the client, however many they are', async () => {
  const client = nowhere();
  let requests = 0;
  const transaction = client.transaction.bind(client);
  client.transaction = () => {
    requests += 1;
    return transaction();
  };
  const provider = new ZooKeeperLockProvider({ client, statementTimeout: '20ms' });
  for (let attempt = 0; attempt < 5; attempt += 1) await assert.rejects(provider.lock(JOB), LockStorageError);
  assert.equal(requests, 1);
});

void test('a server that accepts connections and never answers is an error within the time limit', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const client = createClient(`127.0.0.1:${(silent.address() as AddressInfo).port}`, {
    sessionTimeout: 1000,
  });
  client.connect();
  const provider = new ZooKeeperLockProvider({ client, statementTimeout: '200ms' });
  await assert.rejects(provider.lock(JOB), LockStorageError);
  await assert.rejects(provider.probe(100), { code: 'CRONLATCH_STORAGE' });
  client.close();
  silent.close();
  for (const socket of sockets) socket.destroy();
});

testOnZooKeeper('a client that was closed is an error that names the fix', async (bench) => {
  for (const retries of [0, 2]) {
    const client = await connectedClient(undefined, { retries });
    const provider = new ZooKeeperLockProvider({ client, path: bench.path });
    const lock = await provider.lock(JOB);
    assert.ok(lock);
    const closed = once(client, 'disconnected');
    client.close();
    await closed;
    await assert.rejects(provider.lock(JOB), {
      outcome: 'nothing-ran',
      message: /The ZooKeeper client cannot be used any more: it was closed\. Create a new client/,
    });
    assert.equal(lock.signal.aborted, true);
    assert.equal(await lock.unlock(), false);
  }
});

testOnZooKeeper('a client that is connected later is waited for', async ({ path }) => {
  const client = createClient(zooKeeperAddress());
  const provider = new ZooKeeperLockProvider({ client, path });
  const locking = provider.lock(JOB);
  client.connect();
  assert.ok(await locking);
  client.close();
});

testOnZooKeeper('the place of the locks is identified by the node of the path', async (bench) => {
  const [first, second] = [await bench.provider(), await bench.provider()];
  const elsewhere = await bench.provider({ path: `${bench.path}/elsewhere` });
  assert.equal(first.id, undefined);
  await first.lock(JOB);
  await second.lock(JOB);
  await elsewhere.lock(JOB);
  assert.match(first.id ?? '', /^zookeeper:/);
  assert.equal(first.id, second.id);
  assert.notEqual(first.id, elsewhere.id);
});

testOnZooKeeper('a node shows people who holds the lock, and a released lock leaves none', async (bench) => {
  const provider = await bench.provider();
  const lock = await provider.lock(JOB);
  const nodes = await childrenOf(bench.operator, `${bench.path}/${JOB.name}`);
  const data = await new Promise<unknown>((resolve) =>
    bench.operator.getData(`${bench.path}/${JOB.name}/${nodes[0]}`, (_, bytes) =>
      resolve(JSON.parse(String(bytes))),
    ),
  );
  const { lockedBy, lockUntil } = (await provider.inspect(JOB.name)) ?? {};
  assert.deepEqual(Object.keys(data as object), ['owner', 'lockedAt', 'lockUntil']);
  assert.deepEqual(
    { ...(data as object), lockedAt: 0 },
    { owner: lockedBy, lockedAt: 0, lockUntil: lockUntil?.toISOString() },
  );
  assert.equal(await lock?.unlock(), true);
  await eventually(
    async () => (await childrenOf(bench.operator, bench.path)).length === 0,
    'no node is left',
  );
});

testOnZooKeeper('a node with a time that is none is shown as one that has ended', async (bench) => {
  const provider = await bench.provider();
  await provider.lock(JOB);
  const [node] = await childrenOf(bench.operator, `${bench.path}/${JOB.name}`);
  const path = `${bench.path}/${JOB.name}/${node}`;
  const failure = await new Promise((resolve) =>
    bench.operator.setData(path, Buffer.from('{"lockUntil":"---"}'), resolve),
  );
  assert.ok(!failure);
  assert.deepEqual((await provider.inspect(JOB.name))?.lockUntil, new Date(0));
});

testOnZooKeeper('an extension moves the time that people see', async (bench) => {
  const provider = await bench.provider();
  const lock = await provider.lock(JOB);
  const before = (await provider.inspect(JOB.name))?.lockUntil.getTime() ?? 0;
  await lock?.extend('1h');
  const after = (await provider.inspect(JOB.name))?.lockUntil.getTime() ?? 0;
  assert.ok(after - before > 40 * 60_000);
});

testOnZooKeeper('a refused caller learns the holder once a minute', async (bench) => {
  const clock = new SettableClock();
  const provider = await bench.provider({ clock });
  await (await bench.provider()).lock(JOB);
  const holders: string[] = [];
  const observer = { refused: ({ heldBy }: { heldBy: string }) => void holders.push(heldBy) };
  for (let attempt = 0; attempt < 3; attempt += 1)
    assert.equal(await provider.lock(JOB, observer), undefined);
  assert.equal(holders.length, 1);
  assert.equal(holders[0], (await provider.inspect(JOB.name))?.lockedBy);
  clock.advance('1m');
  await provider.lock(JOB, observer);
  assert.equal(holders.length, 2);
});

testOnZooKeeper(
  'a deleted root is created again, and a holder whose node was deleted learns it',
  async (bench) => {
    const lock = await (await bench.provider()).lock(JOB);
    assert.ok(lock);
    const lost = once(lock.signal, 'abort');
    await removeNodes(bench.operator, bench.path);
    const next = await (await bench.provider()).lock(JOB);
    assert.ok(next);
    await lost;
    assert.match(String(lock.signal.reason), /its node was deleted/);
    assert.equal(await lock.unlock(), false);
    assert.equal(await next.unlock(), true);
  },
);

testOnZooKeeper('a chroot of the client is part of the place', async (bench) => {
  await new Promise((resolve) => bench.operator.create(bench.path, resolve));
  const client = await connectedClient(`${zooKeeperAddress()}${bench.path}`);
  const provider = new ZooKeeperLockProvider({ client, path: '/locks' });
  const waiting = new AbortController();
  const lock = await provider.lock(JOB);
  assert.equal((await childrenOf(bench.operator, `${bench.path}/locks/${JOB.name}`)).length, 1);
  const released = provider.released(JOB.name, waiting.signal);
  assert.equal(await provider.lock(JOB), undefined);
  await lock?.unlock();
  await released;
  assert.ok(await provider.lock(JOB));
  assert.deepEqual(
    (await provider.list({})).map(({ name }) => name),
    [JOB.name],
  );
  await provider.close();
  client.close();
});

testOnZooKeeper('with access rights, no stranger can lock or delete', async (bench) => {
  const acl = [new ACL(Permission.ALL, new Id('auth', ''))];
  const client = await bench.client();
  client.addAuthInfo('digest', Buffer.from('jobs:secret'));
  const provider = await bench.provider({ client, acl });
  const lock = await provider.lock(JOB);
  const stranger = await bench.provider();
  await assert.rejects(stranger.lock(JOB), (error: LockStorageError) => {
    assert.equal(error.driverCode, 'NO_AUTH');
    return error.outcome === 'nothing-ran';
  });
  assert.equal(await lock?.extend('10m'), true);
  assert.equal(await lock?.unlock(), true);
  bench.operator.addAuthInfo('digest', Buffer.from('jobs:secret'));
});

testOnZooKeeper('a closed provider has left nothing behind, and the client still works', async (bench) => {
  const client = await bench.client();
  const provider = await bench.provider({ client });
  const lock = await provider.lock(JOB);
  const kept = await provider.lock({ name: 'kept', lockAtMostFor: '10m', lockAtLeastFor: '5m' });
  await kept?.unlock();
  void provider.released(JOB.name, new AbortController().signal);
  await provider.close();
  assert.match(String(lock?.signal.reason), /its provider was closed/);
  assert.deepEqual(await childrenOf(client, bench.path), []);
  assert.equal(client.listenerCount('state'), 1);
  await assert.rejects(provider.lock(JOB), /its lock provider was closed/);
});

testOnZooKeeper('a provider that is closed during an attempt leaves no node behind', async (bench) => {
  const client = await bench.client();
  const provider = await bench.provider({ client });
  const attempt = provider.lock(JOB);
  await provider.close();
  assert.equal((await attempt)?.signal.aborted, true);
  assert.deepEqual(await childrenOf(client, bench.path), []);
});

testOnZooKeeper('a provider that is being closed grants nothing, and queues nowhere', async (bench) => {
  const client = await bench.client();
  const provider = await bench.provider({ client });
  assert.ok(await provider.lock(JOB));
  const closing = provider.close();
  const closed = /its lock provider was closed/;
  await assert.rejects(provider.lock({ ...JOB, name: 'late' }), closed);
  await assert.rejects(provider.released('late', new AbortController().signal), closed);
  await closing;
  assert.deepEqual(await childrenOf(client, bench.path), []);
});

testOnZooKeeper('a chroot that does not exist is an error at once', async (bench) => {
  const client = await connectedClient(`${zooKeeperAddress()}${bench.path}`);
  const provider = new ZooKeeperLockProvider({ client });
  await assert.rejects(provider.lock(JOB), { outcome: 'nothing-ran', driverCode: 'NO_NODE' });
  await provider.close();
  client.close();
});

testOnZooKeeper('the identity of the place stays while a node of a lock comes and goes', async (bench) => {
  const client = await bench.client();
  const provider = await bench.provider({ client });
  const lock = await provider.lock(JOB);
  const ids = new Set<string | undefined>();
  const create = client.create.bind(client) as (...args: unknown[]) => void;
  const getData = client.getData.bind(client) as (...args: unknown[]) => void;
  // Another instance has just removed the node of the lock.
  client.create = (path: string, ...rest: unknown[]) => {
    if (!path.endsWith('-')) return create(path, ...rest);
    client.create = create;
    client.remove(`${bench.path}/gone`, rest.at(-1) as (error: unknown) => void);
  };
  client.getData = (...args: unknown[]) => {
    ids.add(provider.id);
    getData(...args);
  };
  assert.ok(await provider.lock({ ...JOB, name: 'other' }));
  assert.deepEqual([...ids], [provider.id]);
  assert.equal(await lock?.unlock(), true);
});

testOnZooKeeper('probe gets an answer from a server that works', async (bench) => {
  await (await bench.provider()).probe(1000);
});
