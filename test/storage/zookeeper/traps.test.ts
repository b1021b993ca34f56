/** Two mistakes of hand-written locks, which cronlatch does not make. */
import assert from 'node:assert/strict';
import type { Client } from 'node-zookeeper-client';
import { LockManager } from 'cronlatch';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { JOB, testOnZooKeeper, type ZooKeeperBench } from '../../support/benches/zookeeper';
import { watchedClient } from '../../support/faults/watched-client';
import { childrenOf } from '../../support/servers/zookeeper';

type Release = () => Promise<unknown>;
/** Waits for the lock in the session of a client. */
type WaitForLock = (client: Client) => Promise<Release>;

const WAITERS = 8;

/** Eight instances wait. Each release wakes the next one only. */
async function wakesOne(bench: ZooKeeperBench, waitForLock: WaitForLock): Promise<void> {
  const woken = { count: 0 };
  const clients: Client[] = [];
  const instance = async (beforeWatch?: () => Promise<void>): Promise<Client> => {
    const client = await bench.client();
    clients.push(client);
    const onFired = (): void => void (woken.count += 1);
    return watchedClient(client, { ...(beforeWatch && { beforeWatch }), onFired });
  };
  // The server sends the event of a watch before its later answers to the same client.
  const allHeard = (): Promise<unknown> => Promise.all(clients.map((client) => childrenOf(client, '/')));
  const release = await waitForLock(await instance());
  const waiters: Promise<unknown>[] = [];
  for (let queued = 1; queued <= WAITERS; queued += 1) {
    // Only a place in the queue is watched. An attempt leaves the queue again, which would wake those behind it.
    await new Promise<void>((resolve, reject) => {
      const waiter = instance(() => Promise.resolve(resolve())).then(waitForLock);
      waiters.push(waiter.then((next) => allHeard().then(next)));
      waiter.catch(reject);
    });
  }
  await allHeard();
  woken.count = 0;
  await release();
  await Promise.all(waiters);
  await allHeard();
  assert.ok(woken.count > 0, 'the waiters set watches');
  assert.ok(woken.count <= WAITERS, 'a release wakes more than one waiter');
}

/** The holder releases after the waiter has looked at the queue, and before the watch of the waiter is set. */
async function hearsEveryRelease(bench: ZooKeeperBench, waitForLock: WaitForLock): Promise<void> {
  const release = await waitForLock(await bench.client());
  let isReleased = false;
  const beforeWatch = async (): Promise<void> => {
    if (isReleased) return;
    isReleased = true;
    await release();
  };
  const waiter = waitForLock(watchedClient(await bench.client(), { beforeWatch }));
  let cancel = (): void => {};
  const over = new Promise<'over'>((resolve) => {
    const timer = setTimeout(() => resolve('over'), 2000);
    cancel = () => clearTimeout(timer);
  });
  const first = await Promise.race([waiter, over]).finally(cancel);
  assert.equal(isReleased, true, 'the waiter sets a watch');
  assert.ok(first !== 'over', 'a waiter waits for ever');
  await first();
}

const ours =
  ({ path }: ZooKeeperBench): WaitForLock =>
  async (client) => {
    const lock = await new LockManager(new ZooKeeperLockProvider({ client, path })).lock(JOB);
    return () => lock.unlock();
  };

testOnZooKeeper('a release wakes one waiter of eight', async (bench) => {
  await wakesOne(bench, ours(bench));
});

testOnZooKeeper('a release before the watch is set still wakes the waiter', async (bench) => {
  await hearsEveryRelease(bench, ours(bench));
});
