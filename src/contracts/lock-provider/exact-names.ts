import assert from 'node:assert/strict';
import { InvalidLockConfigurationError, type LockProvider } from '../../core';
import { INJECTED_NAMES, TRICKY_NAMES, randomName } from '../names';
import { JOB, granted, refused } from './assertions';
import { type Instances, cases, needing } from './fixture';

/** A name is kept exactly: never truncated, never confused with another, never run as part of a statement. */
export const exactNames = cases((test) => [
  test('a name of 64 characters is kept exactly, and a longer one is kept exactly or refused (P7, F-66)', async (c) => {
    for (const length of [1, 2, 63, 64]) assert.equal(await isExact(c.provider, length, 'x'), true);
    for (const length of [65, 128, 190, 191, 255]) await isExact(c.provider, length, 'x');
  }),

  test('the limit counts characters, not code units: 64 characters outside the basic plane are kept exactly (P7, F-66)', async (c) => {
    assert.equal(await isExact(c.provider, 64, '\u{1f512}'), true);
    await isExact(c.provider, 65, '\u{1f512}');
  }),
]);

/** All names are held at once, so that any two that are confused collide. */
export const manyNames = needing(['manyLocks'], (test) => [
  test('names that look or sort alike are separate locks (P1, F-65)', (c) => areIndependent(c, TRICKY_NAMES)),

  test('names with SQL or template syntax are ordinary names (P1, F-67)', async (c) => {
    assert.ok(INJECTED_NAMES.length >= 300);
    await areIndependent(c, INJECTED_NAMES);
  }),

  test('random names are separate locks (P1, F-67)', async (c) => {
    const names = Array.from({ length: c.fuzzedNames }, () => randomName(c.random));
    await areIndependent(c, [...new Set(names)]);
  }),
]);

/** Each name is held independently of the others, also after every second lock was released. */
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

/** @returns whether the name was accepted and kept exactly; `false` if it was refused as too long */
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
