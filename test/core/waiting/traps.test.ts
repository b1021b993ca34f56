/** Each mistake of a hand-written lock first goes wrong, and then does not with cronlatch. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockUseError, refreshOnce, type Lock } from 'cronlatch';
import type { LockProvider } from 'cronlatch/provider';
import { pause } from '#cronlatch/core/clock';
import { turn } from '../../support/benches/lock';
import { ORDER, polledBench } from './bench';

void test('a poll every second overruns a limit of half a second', async () => {
  const { here, there, provider, drive, clock } = polledBench();
  await there.lock(ORDER);
  const byHand = async (): Promise<Lock | undefined> => {
    const endsAtMs = clock.monotonicMs() + 500;
    while (clock.monotonicMs() < endsAtMs) {
      const lock = await provider.lock(ORDER);
      if (lock !== undefined) return lock;
      await pause(clock, 1000);
    }
    return undefined;
  };
  await drive(byHand());
  assert.equal(clock.monotonicMs(), 1000);
  await drive(here.tryLock(ORDER, { wait: '500ms' }));
  assert.equal(clock.monotonicMs(), 1500);
});

/** A lock object with one flag, which two flows of a process share. */
class FlaggedLock {
  #isLocked = false;
  #lock: Lock | undefined;
  constructor(private readonly provider: LockProvider) {}

  async tryLock(): Promise<boolean> {
    this.#lock = (await this.provider.lock(ORDER)) ?? this.#lock;
    this.#isLocked = this.#lock !== undefined;
    return this.#isLocked;
  }

  async unlock(): Promise<void> {
    if (this.#isLocked) await this.#lock?.unlock();
    this.#isLocked = false;
  }
}

void test('one flag for two flows lets a flow release the lock of the other', async () => {
  const { here, there, provider } = polledBench();
  const flagged = new FlaggedLock(provider);
  assert.equal(await flagged.tryLock(), true);
  assert.equal(await flagged.tryLock(), true, 'the second flow believes that it holds the lock');
  await flagged.unlock();
  const stolen = await there.tryLock(ORDER);
  assert.ok(stolen, 'the first flow still works');
  await stolen.unlock();

  const first = await here.tryLock(ORDER);
  assert.equal(await here.tryLock(ORDER), undefined);
  assert.equal(await there.tryLock(ORDER), undefined);
  assert.equal(await first?.unlock(), true);
});

/** A token that is stale until it is refreshed. */
function tokenBench() {
  const bench = polledBench();
  const token = { version: 1, refreshes: 0 };
  const refresh = (): number => {
    token.refreshes += 1;
    return (token.version += 1);
  };
  const read = (): number => token.version;
  const options = { name: 'token', lockAtMostFor: '10m', wait: '5s', read, refresh } as const;
  const isStale = { isFresh: (version: number) => version > 1, isUsable: () => true };
  return { ...bench, token, refresh, options: { ...options, ...isStale }, never: { isUsable: () => false } };
}

void test('a refresher that checks only before the lock refreshes twice', async () => {
  const { here, there, drive, token, refresh, options } = tokenBench();
  const byHand = async (manager: typeof here): Promise<void> => {
    if (token.version > 1) return;
    await manager.withLock('token', refresh);
  };
  await drive(Promise.all([byHand(here), byHand(there)]));
  assert.equal(token.refreshes, 2);

  Object.assign(token, { version: 1, refreshes: 0 });
  const calls = [here, there].map((manager) => refreshOnce({ ...options, manager, isUsable: () => false }));
  await drive(Promise.all(calls));
  assert.equal(token.refreshes, 1);
});

void test('a refresher that finds the token fresh under the lock throws', async () => {
  const { here, there, drive, token, refresh, options, never } = tokenBench();
  const byHand = (manager: typeof here): Promise<number> =>
    manager.withLock('token', () => {
      if (token.version > 1) throw new Error('nothing to refresh');
      return refresh();
    });
  await assert.rejects(drive(Promise.all([byHand(here), byHand(there)])), /nothing to refresh/);

  token.version = 1;
  const calls = [here, there].map((manager) => refreshOnce({ ...options, ...never, manager }));
  assert.deepEqual(await drive(Promise.all(calls)), [2, 2]);
});

void test('a waiter that polls the value waits for ever if the refresher fails', async () => {
  const { here, there, drive, token, options, never, clock } = tokenBench();
  const refresh = (): never => {
    throw new Error('bank is closed');
  };
  const polls = { count: 0 };
  const byHand = async (manager: typeof here): Promise<void> => {
    const isMine = await manager.tryLock('token');
    if (isMine !== undefined) return refresh();
    for (; token.version === 1 && polls.count < 100; polls.count += 1) await pause(clock, 1000);
  };
  const [failed, stuck] = [byHand(here), byHand(there)];
  await assert.rejects(failed, /bank is closed/);
  await drive(stuck, 1000);
  assert.equal(polls.count, 100, 'it would poll for ever');

  const manager = there;
  await assert.rejects(
    drive(refreshOnce({ ...options, ...never, manager, name: 'another', refresh })),
    /bank is closed/,
  );
});

void test('return in finally swallows the error of the task', async () => {
  const { here } = polledBench();
  const task = (): never => {
    throw new Error('the bill was not paid');
  };
  const byHand = async (): Promise<string> => {
    const lock = await here.lock('order');
    try {
      return task();
    } finally {
      await lock.unlock();
      return 'done'; // This is the mistake.
    }
  };
  assert.equal(await byHand(), 'done');
  await assert.rejects(here.withLock('order', task), /the bill was not paid/);
});

/** A lock whose row counts its holds, released by two statements. */
class CountedRow {
  count = 0;
  isLocked = false;
  lock(): void {
    this.count += 1;
    this.isLocked = true;
  }
  unlock(crashBetween: boolean): void {
    this.count -= 1;
    if (crashBetween) throw new Error('crash');
    if (this.count === 0) this.isLocked = false;
  }
}

void test('a count of holds in the row stays locked for ever if its release crashes in between', async () => {
  const row = new CountedRow();
  row.lock();
  assert.throws(() => row.unlock(true), /crash/);
  assert.deepEqual([row.count, row.isLocked], [0, true]);

  const { here, there, clock } = polledBench();
  void here.withLock('order', async () => {
    await here.withLock('order', () => {});
    await new Promise(() => {}); // The process crashes.
  });
  await turn();
  assert.equal(await there.tryLock('order'), undefined);
  clock.advance('10m');
  assert.ok(await there.tryLock('order'), 'the lease ends by the clock of the store');
});

void test('a nested call that releases the lock by name frees it for others', async () => {
  const { here, there, provider } = polledBench();
  const holders = new Map<string, Lock>();
  const byHand = async (task: () => Promise<void>): Promise<void> => {
    const lock = holders.get('order') ?? (await provider.lock(ORDER));
    assert.ok(lock);
    holders.set('order', lock);
    await task();
    await lock.unlock();
    holders.delete('order');
  };
  let thief: Lock | undefined;
  await byHand(async () => {
    await byHand(async () => {});
    thief = await there.tryLock('order');
  });
  assert.ok(thief);
  await thief.unlock();

  await here.withLock('order', async () => {
    await here.withLock('order', () => {});
    assert.equal(await there.tryLock('order'), undefined);
  });
});

void test('a wait for a lock inside its own lease never ends', async () => {
  const { here, provider, drive, clock } = polledBench();
  await here.withLock('order', async () => {
    let isOver = false;
    const byHand = async (): Promise<void> => {
      while ((await provider.lock(ORDER)) === undefined && !isOver) await pause(clock, 1000);
    };
    const stuck = byHand();
    for (let second = 0; second < 60; second += 1) {
      await turn();
      clock.advance('1s');
    }
    isOver = true;
    await drive(stuck);
    await assert.rejects(here.tryLock('order', { wait: '1m' }), InvalidLockUseError);
  });
});
