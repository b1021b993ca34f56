import assert from 'node:assert/strict';
import { InvalidLockConfigurationError, type LockProvider } from '../../core';
import { INJECTED_NAMES, TRICKY_NAMES, WRONG_NAMES, randomName } from '../names';
import { JOB, SECOND, granted, invalid, refused } from './assertions';
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

/** Invalid configurations are reported before any lock is taken. */
export const wrongConfigurations = cases((test) => [
  test('a name that some store could cut, fold or confuse is refused (P7, F-66)', async (c) => {
    for (const name of WRONG_NAMES) await invalid(c.provider, { ...JOB, name });
  }),

  test('a name that is not a string is refused (P7)', async (c) => {
    const primitives = [undefined, null, 0, 1, true, Symbol('job')];
    for (const name of [...primitives, ['job'], { name: 'job' }, new String('job')])
      await invalid(c.provider, { ...JOB, name });
  }),

  test('a missing or invalid duration is refused, with the name of the lock (P7)', async (c) => {
    const refuse = (wrong: object): Promise<void> =>
      invalid(c.provider, { ...JOB, name: 'close-day', ...wrong }, 'close-day');
    for (const lockAtMostFor of [undefined, ...NO_DURATIONS, 0, '0s', 'PT0S'])
      await refuse({ lockAtMostFor });
    for (const lockAtLeastFor of [...NO_DURATIONS, '10m1ms', '1h', 600_001]) await refuse({ lockAtLeastFor });
    for (const keepAlive of [...NO_DURATIONS, 0, '5m1ms', '10m']) await refuse({ keepAlive });
    for (const maxLockDuration of [...NO_DURATIONS, 0, '9m'])
      await refuse({ keepAlive: true, maxLockDuration });
    await refuse({ maxLockDuration: '1h' });
  }),

  test('a refused configuration locks nothing (P7)', async (c) => {
    await granted(c.provider);
    await invalid(c.other, { ...JOB, name: ` ${JOB.name}` });
    await invalid(c.other, { ...SECOND, lockAtMostFor: 0 });
    await refused(c.other);
    await granted(c.other, SECOND);
  }),
]);

const NOT_TEXTS = [-1, NaN, Infinity, {}, null];
const NO_DURATIONS = [...NOT_TEXTS, '', '10', '-1m', '1 m', '10M', 'soon', 'P1M', 'P1Y', 'P', 'PT', '366d'];
