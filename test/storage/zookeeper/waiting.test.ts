import assert from 'node:assert/strict';
import { LockManager } from 'cronlatch';
import type { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { JOB, testOnZooKeeper, type ZooKeeperBench } from '../../support/benches/zookeeper';
import { eventually } from '../../support/clocks/eventually';
import { childrenOf, removeNodes } from '../../support/servers/zookeeper';

function queue({ operator, path }: ZooKeeperBench): Promise<string[]> {
  return childrenOf(operator, `${path}/${JOB.name}`);
}

async function queueHas(bench: ZooKeeperBench, length: number): Promise<void> {
  await eventually(async () => (await queue(bench)).length === length, `the queue has ${length} nodes`);
}

/** Waits as a lock manager does, until the test stops it. */
function waiterOf(provider: ZooKeeperLockProvider): { stop: () => void; released: Promise<void> } {
  const over = new AbortController();
  return { released: provider.released(JOB.name, over.signal), stop: () => over.abort() };
}

testOnZooKeeper('waiting instances are served in their order', async (bench) => {
  const lock = await (await bench.provider()).lock(JOB);
  const served: number[] = [];
  const waiting: Promise<unknown>[] = [];
  for (let place = 1; place <= 5; place += 1) {
    const manager = new LockManager(await bench.provider());
    waiting.push(manager.withLock(JOB, () => void served.push(place)));
    await queueHas(bench, place + 1);
  }
  await lock?.unlock();
  await Promise.all(waiting);
  assert.deepEqual(served, [1, 2, 3, 4, 5]);
  await queueHas(bench, 0);
});

testOnZooKeeper('a waiter that waits again at once keeps its place', async (bench) => {
  await (await bench.provider()).lock(JOB);
  const provider = await bench.provider();
  const first = waiterOf(provider);
  await queueHas(bench, 2);
  const before = await queue(bench);
  first.stop();
  await first.released;
  const second = waiterOf(provider);
  assert.equal(await provider.lock(JOB), undefined);
  await new Promise((resolve) => setTimeout(resolve, 200)); // The place of a waiter that does not come back ends after 100 ms.
  assert.deepEqual((await queue(bench)).sort(), before.sort());
  second.stop();
  await queueHas(bench, 1);
});

testOnZooKeeper('a waiter behind one that gives up is woken by the holder, once', async (bench) => {
  const lock = await (await bench.provider()).lock(JOB);
  const between = waiterOf(await bench.provider());
  await queueHas(bench, 2);
  const provider = await bench.provider();
  const last = waiterOf(provider);
  await queueHas(bench, 3);
  between.stop();
  await queueHas(bench, 2);
  assert.equal(await provider.lock(JOB), undefined);
  await lock?.unlock();
  await last.released;
  assert.ok(await provider.lock(JOB));
  await queueHas(bench, 1);
});

testOnZooKeeper('a place that is not taken is removed', async (bench) => {
  const lock = await (await bench.provider()).lock(JOB);
  const waiter = waiterOf(await bench.provider());
  await queueHas(bench, 2);
  await lock?.unlock();
  await waiter.released;
  await queueHas(bench, 0);
  assert.ok(await (await bench.provider()).lock(JOB));
});

testOnZooKeeper('an extension and a proof of the session do not wake a waiter', async (bench) => {
  const lock = await (await bench.provider()).lock(JOB);
  const waiter = waiterOf(await bench.provider());
  await queueHas(bench, 2);
  let isWoken = false;
  void waiter.released.then(() => (isWoken = true));
  for (let extension = 0; extension < 3; extension += 1) assert.equal(await lock?.extend('10m'), true);
  assert.equal((await queue(bench)).length, 2);
  assert.equal(isWoken, false);
  waiter.stop();
});

testOnZooKeeper('a waiter is woken when the holder is released by force', async (bench) => {
  const provider = await bench.provider();
  const lock = await provider.lock(JOB);
  const other = await bench.provider();
  const waiter = waiterOf(other);
  await queueHas(bench, 2);
  const state = await other.inspect(JOB.name);
  assert.ok(state);
  assert.equal(state.fencingToken, lock?.fencingToken);
  assert.equal(await other.forceRelease(JOB.name, state.lockedBy), true);
  await waiter.released;
  const next = await other.lock(JOB);
  assert.ok((next?.fencingToken ?? 0) > (state.fencingToken ?? Infinity));
  assert.equal(await lock?.extend('10m'), false);
});

testOnZooKeeper('a waiter whose node was deleted queues again', async (bench) => {
  const lock = await (await bench.provider()).lock(JOB);
  const provider = await bench.provider();
  const manager = new LockManager(provider);
  const waiting = manager.lock(JOB);
  await queueHas(bench, 2);
  const nodes = (await queue(bench)).sort((a, b) => Number(a.slice(-10)) - Number(b.slice(-10)));
  await removeNodes(bench.operator, `${bench.path}/${JOB.name}/${nodes[1]}`);
  await lock?.unlock();
  assert.equal(await (await waiting).unlock(), true);
});

testOnZooKeeper(
  'the waiters of one process share a node, and a try of it does not overtake others',
  async (bench) => {
    const lock = await (await bench.provider()).lock(JOB);
    const provider = await bench.provider();
    const waiters = Array.from({ length: 12 }, () => waiterOf(provider));
    await queueHas(bench, 2);
    assert.equal(await provider.lock(JOB), undefined);
    assert.equal((await queue(bench)).length, 2);
    await lock?.unlock();
    await Promise.all(waiters.map(({ released }) => released));
    const attempts = await Promise.all([provider.lock(JOB), provider.lock(JOB)]);
    assert.equal(attempts.filter((granted) => granted !== undefined).length, 1);
  },
);
