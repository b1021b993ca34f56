import assert from 'node:assert/strict';
import { type Lock, LockingTaskExecutor } from '../../core';
import { afterRealTime } from '../real-time';
import { JOB, granted, refused } from './assertions';
import { type LockProviderFixture, cases } from './fixture';

/** One holder at a time. */
export const exclusion = cases({
  async 'a free lock is granted, under its name (P1)'({ provider }) {
    assert.equal((await granted(provider, JOB)).name, JOB.name);
  },

  async 'a held lock is refused to another instance (P1)'({ provider, other }) {
    await granted(provider, JOB);
    await refused(other, JOB);
  },

  async 'a held lock is refused to the same provider: the acquisition owns it, not the process (P1)'({
    provider,
  }) {
    await granted(provider, JOB);
    await refused(provider, JOB);
  },

  async 'a refusal does not affect the holder (P1)'({ provider, other }) {
    const lock = await granted(provider, JOB);
    await refused(other, JOB);
    assert.equal(await lock.extend('10m'), true);
    await refused(other, JOB);
    assert.equal(await lock.unlock(), true);
  },

  async 'lock() inside its own lease is refused: lock() is never re-entrant (P1)'({ provider }) {
    const outer = new LockingTaskExecutor(provider);
    const result = await outer.executeWithLock(() => refused(provider, JOB), JOB);
    assert.equal(result.executed, true);
  },

  async 'a released lock is granted to the same provider (P1)'({ provider }) {
    assert.equal(await (await granted(provider, JOB)).unlock(), true);
    await granted(provider, JOB);
  },

  async 'a released lock is granted to another instance (P1)'({ provider, other }) {
    assert.equal(await (await granted(provider, JOB)).unlock(), true);
    await granted(other, JOB);
    await refused(provider, JOB);
  },

  async 'a released lock is granted again at once, ten times in a row (P1)'({ provider, other }) {
    for (let round = 0; round < 10; round += 1) {
      const lock = await granted(round % 2 ? provider : other, JOB);
      assert.equal(await lock.unlock(), true);
    }
  },

  async 'two names are two locks (P1)'({ provider, other }) {
    const second = { ...JOB, name: 'contract-2' };
    const lock = await granted(provider, JOB);
    await granted(other, second);
    await lock.unlock();
    await refused(provider, second);
    await granted(other, JOB);
  },

  async 'both instances have the same place id (P1)'({ provider, other }) {
    await granted(provider, JOB);
    await refused(other, JOB);
    assert.equal(provider.id, other.id);
  },

  async 'a lock of the same name in another place is another lock (P1)'(
    { provider, other },
    { anotherPlace },
  ) {
    await granted(provider, JOB);
    const elsewhere = await anotherPlace();
    await (await granted(elsewhere.provider, JOB)).unlock();
    await refused(other, JOB);
    await granted(elsewhere.other, JOB);
  },
});

type Instances = Pick<LockProviderFixture, 'provider' | 'other' | 'elapse'>;

/** Many instances that ask for a lock at the same moment. */
export const crowd = cases({
  async 'one of many simultaneous callers gets a new lock (P1)'(instances) {
    assert.equal((await lockConcurrently(instances)).length, 1);
  },

  async 'one of many simultaneous callers gets an expired lock (P1)'(instances) {
    await granted(instances.provider, JOB);
    await instances.elapse('10m');
    assert.equal((await lockConcurrently(instances)).length, 1);
  },

  async 'one of many simultaneous callers gets a released lock (P1)'(instances) {
    await (await granted(instances.provider, JOB)).unlock();
    assert.equal((await lockConcurrently(instances)).length, 1);
  },

  async 'none of many simultaneous callers gets a held lock (P1)'(instances) {
    await granted(instances.provider, JOB);
    assert.equal((await lockConcurrently(instances)).length, 0);
  },

  async 'when many simultaneous callers ask for ten locks, each lock goes to one caller (P1)'(instances) {
    const names = Array.from({ length: 10 }, (_, i) => `contract-${i}`);
    const locks = await lockConcurrently(instances, names);
    assert.deepEqual(locks.map(({ name }) => name).sort(), names);
  },
});

/** Twenty callers ask at once for each name, half of them through each instance. @returns the granted locks */
async function lockConcurrently(
  { provider, other, elapse }: Instances,
  names = [JOB.name as string],
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
