import assert from 'node:assert/strict';
import { InvalidLockConfigurationError, type LockProvider } from '../../core';
import { INJECTED_NAMES, TRICKY_NAMES, randomName, randomWrongName } from '../names';
import { JOB, granted, invalid, refused } from './assertions';
import { type LockProviderFixture, cases } from './fixture';

type Instances = Pick<LockProviderFixture, 'provider' | 'other'>;

/** A name that is taken is taken exactly: never truncated, never confused with another, never more than a name. */
export const exactNames = cases({
  async 'P1 F-65 names that look or sort alike are locks of their own, each to each'(instances) {
    await areIndependent(instances, TRICKY_NAMES);
  },

  async 'P1 F-67 names that would break out of a statement are names'(instances) {
    assert.ok(INJECTED_NAMES.length >= 300);
    await areIndependent(instances, INJECTED_NAMES);
  },

  async 'P1 F-67 random names are locks of their own'(instances, { random, fuzzedNames }) {
    const names = Array.from({ length: fuzzedNames }, () => randomName(random));
    await areIndependent(instances, [...new Set(names)]);
  },

  async 'P7 random names that cannot be meant are refused'({ provider }, { random, fuzzedNames }) {
    for (let i = 0; i < fuzzedNames; i += 1)
      await invalid(provider, { ...JOB, name: randomWrongName(random) });
  },

  async 'P7 F-66 a name of 64 characters is exact, and a longer one is exact or refused'({ provider }) {
    for (const length of [1, 2, 63, 64]) assert.equal(await isExact(provider, length, 'x'), true);
    for (const length of [65, 128, 190, 191, 255]) await isExact(provider, length, 'x');
  },

  async 'P7 F-66 characters are counted, not code units: 64 outside the basic plane are exact'({ provider }) {
    assert.equal(await isExact(provider, 64, '\u{1f512}'), true);
    await isExact(provider, 65, '\u{1f512}');
  },
});

/** Whoever holds one of the names holds that one, and no other: also after every second one was released. */
async function areIndependent({ provider, other }: Instances, names: readonly string[]): Promise<void> {
  const locks = [];
  for (const name of names) locks.push(await granted(provider, { ...JOB, name }));
  for (const name of names) await refused(other, { ...JOB, name });
  for (const lock of locks.filter((_, i) => i % 2)) assert.equal(await lock.unlock(), true);
  for (const [i, name] of names.entries()) {
    if (i % 2) await granted(other, { ...JOB, name });
    else await refused(other, { ...JOB, name });
  }
}

/** @returns whether the name was taken, and then exactly; `false` when it was refused as too long */
async function isExact(provider: LockProvider, length: number, character: string): Promise<boolean> {
  const name = character.repeat(length);
  try {
    assert.equal((await granted(provider, { ...JOB, name })).name, name);
  } catch (error) {
    if (error instanceof InvalidLockConfigurationError) return false;
    throw error;
  }
  await refused(provider, { ...JOB, name });
  await granted(provider, { ...JOB, name: `${character.repeat(length - 1)}y` });
  return true;
}
