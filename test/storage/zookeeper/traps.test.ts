/** Two mistakes of hand-written locks, with properties that they fail and cronlatch keeps. */
import assert from 'node:assert/strict';
import { CreateMode, type Client } from 'node-zookeeper-client';
import { LockManager } from 'cronlatch';
import { ZooKeeperLockProvider } from 'cronlatch/zookeeper';
import { JOB, testOnZooKeeper, type ZooKeeperBench } from '../../support/benches/zookeeper';
import { watchedClient } from '../../support/faults/watched-client';
import { answerOf, childrenOf } from '../../support/servers/zookeeper';

type Release = () => Promise<unknown>;
/** Waits for the lock in the session of a client. */
type WaitForLock = (client: Client) => Promise<Release>;

const HERD = 'a release wakes more than one waiter';
const LOST_WAKE_UP = 'a waiter waits for ever';
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
  assert.ok(woken.count <= WAITERS, HERD);
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
  assert.ok(first !== 'over', LOST_WAKE_UP);
  await first();
}

/** A lock as many write it: the lowest node holds. */
function byHand(path: string, waitForChange: (client: Client, before: string) => Promise<void>): WaitForLock {
  return async (client) => {
    const own = await answerOf<string>((answer) =>
      client.create(`${path}/n-`, CreateMode.EPHEMERAL_SEQUENTIAL, answer),
    );
    for (;;) {
      const queue = (await childrenOf(client, path)).sort();
      const before = queue[queue.indexOf(own.slice(path.length + 1)) - 1];
      if (before === undefined) break;
      await waitForChange(client, `${path}/${before}`);
    }
    return () => new Promise((resolve) => client.remove(own, resolve));
  };
}

const watchesParent = (path: string): WaitForLock =>
  byHand(
    path,
    (client, before) =>
      new Promise((resolve) =>
        client.getChildren(
          path,
          () => resolve(),
          (_, children) => {
            if (!children.includes(before.slice(path.length + 1))) resolve();
          },
        ),
      ),
  );

const watchesAfterCheck = (path: string): WaitForLock =>
  byHand(
    path,
    (client, before) =>
      new Promise((resolve) =>
        client.exists(
          before,
          () => resolve(),
          () => {},
        ),
      ),
  );

const ours =
  ({ path }: ZooKeeperBench): WaitForLock =>
  async (client) => {
    const lock = await new LockManager(new ZooKeeperLockProvider({ client, path })).lock(JOB);
    return () => lock.unlock();
  };

function create(client: Client, path: string): Promise<string> {
  return answerOf((answer) => client.create(path, answer));
}

testOnZooKeeper('a watch on the parent, written by hand, wakes the whole herd', async (bench) => {
  const path = await create(bench.operator, bench.path);
  const property = wakesOne(bench, watchesParent(path));
  await assert.rejects(property, { name: 'AssertionError', message: HERD });
});

testOnZooKeeper('a release wakes one waiter of eight', async (bench) => {
  await wakesOne(bench, ours(bench));
});

testOnZooKeeper('a watch that is set after the check, written by hand, misses a release', async (bench) => {
  const path = await create(bench.operator, bench.path);
  const property = hearsEveryRelease(bench, watchesAfterCheck(path));
  await assert.rejects(property, { name: 'AssertionError', message: LOST_WAKE_UP });
});

testOnZooKeeper('a release before the watch is set still wakes the waiter', async (bench) => {
  await hearsEveryRelease(bench, ours(bench));
});
