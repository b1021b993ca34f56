/** Locks in Redis, as they are often written by hand. docs/redis-lock-by-hand.md explains each of them. */
import assert from 'node:assert/strict';
import { eventually } from '../../support/clocks/eventually';
import { Gate, isGranted, LEASE_MS, start, testRedisTrap, type Run, type Session } from './redis-trap';

const TWO_HOLDERS = 'two instances hold the lock';

/** A task between the two halves of a lock. */
function between(lock: () => Promise<boolean>, unlock: () => Promise<unknown>): Run {
  return async (_name, task) => {
    if (!(await lock())) return false;
    await task(undefined);
    await unlock();
    return true;
  };
}

const keyOf = ({ prefix }: Session): string => `${prefix}goods`;

async function setIfMissing(session: Session): Promise<boolean> {
  const { redis, instance } = session;
  return (await redis.set(keyOf(session), String(instance), 'PX', LEASE_MS, 'NX')) !== null;
}

async function deleteOwn(session: Session): Promise<void> {
  const script = `return redis.call('GET', KEYS[1]) == ARGV[1] and redis.call('DEL', KEYS[1])`;
  await session.redis.eval(script, 1, keyOf(session), String(session.instance));
}

/** The process ends here. */
function died({ redis }: Pick<Session, 'redis'>): Promise<never> {
  redis.disconnect();
  return new Promise(() => {});
}

testRedisTrap('a holder that dies frees its lock', {
  byHand: (session) =>
    between(
      async () => {
        if ((await session.redis.setnx(keyOf(session), 'locked')) === 0) return false;
        if (session.instance === 0) await died(session); // Between the two commands.
        await session.redis.pexpire(keyOf(session), LEASE_MS);
        return true;
      },
      () => session.redis.del(keyOf(session)),
    ),
  failure: 'not within 10 s: the lock is granted',
  property: async ([first, second]) => {
    void first.run('goods', () => died(first));
    await eventually(() => first.redis.status === 'end', 'the first instance has died');
    await start(second);
  },
});

testRedisTrap('a job that takes longer than its lease keeps its lock', {
  byHand: (session) =>
    between(
      () => setIfMissing(session),
      () => deleteOwn(session),
    ),
  keepAlive: true,
  failure: TWO_HOLDERS,
  property: async ([first, second]) => {
    await start(first);
    const endsAtMs = performance.now() + 3 * LEASE_MS;
    while (performance.now() < endsAtMs) assert.ok(!(await isGranted(second)), TWO_HOLDERS);
  },
});

testRedisTrap('the release of a job that was too slow frees no other lock', {
  byHand: (session) =>
    between(
      () => setIfMissing(session),
      () => session.redis.del(keyOf(session)),
    ),
  failure: TWO_HOLDERS,
  property: async ([first, second, third]) => {
    const slow = new Gate();
    const released = await start(first, () => slow.isOpen);
    await start(second); // After the lease of the first.
    slow.open();
    await released();
    assert.ok(!(await isGranted(third)), TWO_HOLDERS);
  },
});

testRedisTrap('a release compares and deletes in one step', {
  byHand: (session) =>
    between(
      () => setIfMissing(session),
      async () => {
        const { redis, instance } = session;
        if ((await redis.get(keyOf(session))) !== String(instance)) return;
        if (instance === 0)
          await eventually(async () => (await redis.get(keyOf(session))) === '1', 'taken over');
        await redis.del(keyOf(session));
      },
    ),
  failure: TWO_HOLDERS,
  property: async ([first, second, third]) => {
    const released = await start(first, () => Promise.resolve());
    await start(second);
    await released();
    assert.ok(!(await isGranted(third)), TWO_HOLDERS);
  },
});

testRedisTrap('a refused instance releases nothing', {
  byHand: (session) => async (_name, task) => {
    try {
      if (!(await setIfMissing(session))) return false;
      await task(undefined);
      return true;
    } finally {
      await session.redis.del(keyOf(session)); // Also if it was refused.
    }
  },
  failure: TWO_HOLDERS,
  property: async ([first, second, third]) => {
    await start(first);
    assert.equal(await isGranted(second), false);
    assert.ok(!(await isGranted(third)), TWO_HOLDERS);
  },
});

/** GETSET with the expiry as the value, by the clock of the host. */
function byClock(session: Session, beforeTakeover: () => Promise<void> = () => Promise.resolve()): Run {
  const { redis, nowMs } = session;
  let mine = '';
  return between(
    async () => {
      const until = String(nowMs() + LEASE_MS);
      mine = until;
      if ((await redis.setnx(keyOf(session), until)) === 1) return true;
      const found = await redis.get(keyOf(session));
      if (Number(found) > nowMs()) return false;
      await beforeTakeover();
      return (await redis.getset(keyOf(session), until)) === found;
    },
    async () => {
      if ((await redis.get(keyOf(session))) === mine) await redis.del(keyOf(session));
    },
  );
}

testRedisTrap('a clock that is a minute ahead ends no lease', {
  byHand: byClock,
  failure: TWO_HOLDERS,
  property: async ([first, second]) => {
    await start(first);
    assert.ok(!(await isGranted(second)), TWO_HOLDERS);
  },
});

let seen = 0;

testRedisTrap('an instance that loses the race leaves the lock of the winner alone', {
  leftByHand: '1', // The end of a lease, long ago.
  byHand: (session) =>
    byClock(session, async () => {
      seen += 1;
      await eventually(() => seen === 2, 'both have seen the expired lock');
      const isTaken = async (): Promise<boolean> => (await session.redis.get(keyOf(session))) !== '1';
      if (session.instance === 1) await eventually(isTaken, 'the first instance has the lock');
    }),
  failure: 'the lock is not free after its release',
  property: async ([first, second]) => {
    const work = new Gate();
    const race = [first, second].map(({ run }) => run('goods', () => work.isOpen));
    assert.equal(await Promise.race(race), false);
    work.open();
    assert.deepEqual((await Promise.all(race)).sort(), [false, true]);
    assert.ok(await isGranted(first), 'the lock is not free after its release');
  },
});

testRedisTrap('a nested call leaves the lock to the outer one', {
  byHand: (session) =>
    between(
      async () =>
        (await setIfMissing(session)) ||
        (await session.redis.get(keyOf(session))) === String(session.instance), // Re-entrant.
      () => deleteOwn(session),
    ),
  failure: TWO_HOLDERS,
  property: async ([first, second]) => {
    let isShared = false;
    const outer = first.run('goods', async () => {
      assert.equal(await isGranted(first), true);
      isShared = await isGranted(second);
    });
    assert.equal(await outer, true);
    assert.ok(!isShared, TWO_HOLDERS);
  },
});

testRedisTrap('a lock is free after each release, not only after the first', {
  byHand: (session) => {
    let count = 1;
    let isMine = false;
    return between(
      async () => {
        if (isMine) count += 1;
        isMine ||= await setIfMissing(session);
        return isMine;
      },
      async () => {
        count -= 1;
        if (count !== 0) return; // The second time, it goes from 0 to -1.
        await deleteOwn(session);
        isMine = false;
      },
    );
  },
  failure: 'the lock is not free after its release',
  property: async ([first, second]) => {
    assert.equal(await isGranted(first), true);
    assert.equal(await isGranted(first), true);
    assert.ok(await isGranted(second), 'the lock is not free after its release');
  },
});

testRedisTrap('two jobs have two locks', {
  byHand: (session) =>
    between(
      () => setIfMissing(session), // One key for everything.
      () => deleteOwn(session),
    ),
  failure: 'the orders wait for the goods',
  property: async ([first, second]) => {
    await start(first);
    assert.ok(await isGranted(second, 'orders'), 'the orders wait for the goods');
  },
});

/** Where the effects of a job land. It refuses a token that is lower than the highest that it has seen. */
class Register {
  value = 'empty';
  #highest = 0;

  write(value: string, token = this.#highest): void {
    if (token < this.#highest) return;
    this.#highest = token;
    this.value = value;
  }
}

testRedisTrap('a holder whose lease has ended changes nothing', {
  byHand: (session) =>
    between(
      () => setIfMissing(session),
      () => deleteOwn(session),
    ),
  failure: 'the write of the first holder came after its lease',
  property: async ([first, second]) => {
    const register = new Register();
    const paused = new Gate();
    const released = await start(first, async (token) => {
      await paused.isOpen;
      register.write('old', token);
    });
    await start(second, (token) => Promise.resolve(register.write('new', token)));
    paused.open();
    await released();
    assert.ok(register.value === 'new', 'the write of the first holder came after its lease');
  },
});
