import assert from 'node:assert/strict';
import { type Lock, LockingTaskExecutor } from '../../core';
import { afterRealTime } from '../real-time';
import { JOB, SECOND, granted, refused, released } from './assertions';
import { type Instances, cases } from './fixture';

export const exclusion = cases((test) => [
  test('a free lock is granted, under its name (P1)', async (c) => {
    assert.equal((await granted(c.provider)).name, JOB.name);
  }),

  test('a held lock is refused to the same provider, even inside its own lease: the acquisition owns it (P1)', async (c) => {
    const outer = new LockingTaskExecutor(c.provider);
    const result = await outer.executeWithLock(() => refused(c.provider), JOB);
    assert.equal(result.executed, true);
  }),

  test('a held lock is refused to another instance, which does not affect the holder (P1)', async (c) => {
    const lock = await granted(c.provider);
    await refused(c.other);
    assert.equal(await lock.extend('10m'), true);
    await refused(c.other);
    assert.equal(await lock.unlock(), true);
  }),

  test('a released lock is granted again at once, to either instance (P1)', async (c) => {
    for (let round = 0; round < 10; round += 1) await released(round % 4 < 2 ? c.provider : c.other);
  }),

  test('two names are two locks (P1)', async (c) => {
    const lock = await granted(c.provider);
    await granted(c.other, SECOND);
    await lock.unlock();
    await refused(c.provider, SECOND);
    await granted(c.other);
  }),

  test('both instances have the same place id (P1)', async (c) => {
    await granted(c.provider);
    await refused(c.other);
    assert.equal(c.provider.id, c.other.id);
  }),

  test('a lock of the same name in another place is another lock (P1)', async (c) => {
    await granted(c.provider);
    const elsewhere = await c.anotherPlace();
    await released(elsewhere.provider);
    await refused(c.other);
    await granted(elsewhere.other);
  }),

  test('one of many simultaneous callers gets a released or an expired lock, and none a held one (P1)', async (c) => {
    const lock = await granted(c.provider);
    assert.equal((await lockConcurrently(c)).length, 0);
    await lock.unlock();
    assert.equal((await lockConcurrently(c)).length, 1);
    await c.elapse('10m');
    assert.equal((await lockConcurrently(c)).length, 1);
  }),

  test('when many simultaneous callers ask for ten locks, each lock goes to one caller (P1)', async (c) => {
    const names = Array.from({ length: 10 }, (_, i) => `contract-${i}`);
    const locks = await lockConcurrently(c, names);
    assert.deepEqual(locks.map(({ name }) => name).sort(), names);
  }),
]);

/** Twenty callers ask at once for each name, half through each instance. @returns the granted locks */
async function lockConcurrently(
  { provider, other, elapse }: Instances,
  names: readonly string[] = [JOB.name],
): Promise<Lock[]> {
  const asked = names.flatMap((name) =>
    Array.from({ length: 20 }, (_, i) => (i % 2 ? provider : other).lock({ ...JOB, name })),
  );
  const locks = await whileTimePasses(Promise.all(asked), elapse);
  return locks.filter((lock) => lock !== undefined);
}

const STEP_MS = 50;

/** The caller retries after contention; the pause before the retry ends only if time passes. */
async function whileTimePasses<T>(answers: Promise<T>, elapse: Instances['elapse']): Promise<T> {
  for (;;) {
    let cancel = (): void => {};
    const step = new Promise<'step'>((resolve) => (cancel = afterRealTime(STEP_MS, () => resolve('step'))));
    const first = await Promise.race([answers, step]).finally(cancel);
    if (first !== 'step') return first;
    await elapse(STEP_MS);
  }
}
