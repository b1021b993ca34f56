import assert from 'node:assert/strict';
import type { Lock } from '../../core';
import { JOB, granted } from './asserting';
import { cases } from './contract-cases';
import type { LockProviderFixture } from './fixture';
import { afterRealTime } from '../real-time';

type Instances = Pick<LockProviderFixture, 'provider' | 'other' | 'elapse'>;

/** Many that ask at the same moment. */
export const crowd = cases({
  async 'P1 of many that ask at once for a new lock, one gets it'(instances) {
    assert.equal((await crowdAsks(instances)).length, 1);
  },

  async 'P1 of many that ask at once for an expired lock, one gets it'(instances) {
    await granted(instances.provider, JOB);
    await instances.elapse('10m');
    assert.equal((await crowdAsks(instances)).length, 1);
  },

  async 'P1 of many that ask at once for a released lock, one gets it'(instances) {
    await (await granted(instances.provider, JOB)).unlock();
    assert.equal((await crowdAsks(instances)).length, 1);
  },

  async 'P1 of many that ask at once while one holds it, none gets it'(instances) {
    await granted(instances.provider, JOB);
    assert.equal((await crowdAsks(instances)).length, 0);
  },

  async 'P1 of many that ask at once for ten locks, one gets each'(instances) {
    const names = Array.from({ length: 10 }, (_, i) => `contract-${i}`);
    const locks = await crowdAsks(instances, names);
    assert.deepEqual(locks.map(({ name }) => name).sort(), names);
  },
});

/** Twenty ask at once for each name, half of them through each instance. @returns what they got */
async function crowdAsks(
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

/** What was refused for contention is asked again after a pause, which ends only if time passes. */
async function whileTimePasses<T>(answers: Promise<T>, elapse: Instances['elapse']): Promise<T> {
  for (;;) {
    let cancel = (): void => {};
    const step = new Promise<'step'>((resolve) => (cancel = afterRealTime(STEP_MS, () => resolve('step'))));
    const first = await Promise.race([answers, step]).finally(cancel);
    if (first !== 'step') return first;
    await elapse(STEP_MS);
  }
}
