import { CONTROL_CHARACTERS, HALF_PAIRS, NOT_NORMAL, SPOILS, WHITE_SPACE } from '../names';
import { JOB, SECOND, granted, invalid, refused } from './assertions';
import { cases } from './fixture';

/** Invalid configurations are reported before any lock is taken. */
export const wrongConfigurations = cases((test) => [
  test('an empty name, or one too long for every store, is refused (P7, F-66)', async (c) => {
    for (const length of [0, 256, 1000, 1_000_000])
      await invalid(c.provider, { ...JOB, name: 'x'.repeat(length) });
    await invalid(c.provider, { ...JOB, name: '\u{1f512}'.repeat(256) });
  }),

  test('a name that is not a string is refused (P7)', async (c) => {
    const primitives = [undefined, null, 0, 1, true, Symbol('job')];
    for (const name of [...primitives, ['job'], { name: 'job' }, new String('job')])
      await invalid(c.provider, { ...JOB, name });
  }),

  test('white space of any kind at either end of a name is refused (P7)', async (c) => {
    for (const space of WHITE_SPACE)
      for (const name of [`${space}job`, `job${space}`, space, space.repeat(2)])
        await invalid(c.provider, { ...JOB, name });
  }),

  test('control characters in a name are refused (P7)', async (c) => {
    for (const character of CONTROL_CHARACTERS)
      for (const name of [`jo${character}b`, character]) await invalid(c.provider, { ...JOB, name });
  }),

  test('half a surrogate pair in a name is refused (P7, F-66)', async (c) => {
    for (const name of HALF_PAIRS) await invalid(c.provider, { ...JOB, name });
  }),

  test('a name that is not in Unicode normal form C is refused (P7)', async (c) => {
    for (const part of NOT_NORMAL)
      for (const name of [part, `job-${part}-job`]) await invalid(c.provider, { ...JOB, name });
  }),

  test('a missing or invalid lockAtMostFor is refused, with the name of the lock (P7)', async (c) => {
    for (const lockAtMostFor of [undefined, ...NO_DURATIONS, 0, '0s', 'PT0S'])
      await invalid(c.provider, { name: 'close-day', lockAtMostFor }, 'close-day');
  }),

  test('an invalid lockAtLeastFor is refused, with the name of the lock (P7)', async (c) => {
    for (const lockAtLeastFor of [...NO_DURATIONS, '10m1ms', '1h', 600_001])
      await invalid(c.provider, { ...JOB, name: 'close-day', lockAtLeastFor }, 'close-day');
  }),

  test('an invalid keepAlive or maxLockDuration is refused, with the name of the lock (P7)', async (c) => {
    for (const keepAlive of [...NO_DURATIONS, 0, '5m1ms', '10m'])
      await invalid(c.provider, { ...JOB, name: 'close-day', keepAlive }, 'close-day');
    for (const maxLockDuration of [...NO_DURATIONS, 0, '9m'])
      await invalid(c.provider, { ...JOB, name: 'close-day', keepAlive: true, maxLockDuration }, 'close-day');
    await invalid(c.provider, { ...JOB, name: 'close-day', maxLockDuration: '1h' }, 'close-day');
  }),

  test('a refused configuration locks nothing (P7)', async (c) => {
    await granted(c.provider);
    for (const spoil of Object.values(SPOILS)) await invalid(c.other, { ...JOB, name: spoil(JOB.name) });
    await invalid(c.other, { ...SECOND, lockAtMostFor: 0 });
    await refused(c.other);
    await granted(c.other, SECOND);
  }),
]);

const NOT_TEXTS = [-1, NaN, Infinity, {}, null];
const NO_DURATIONS = [...NOT_TEXTS, '', '10', '-1m', '1 m', '10M', 'soon', 'P1M', 'P1Y', 'P', 'PT', '366d'];
