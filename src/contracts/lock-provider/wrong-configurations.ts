import { JOB, granted, invalid, refused } from './assertions';
import { cases } from './fixture';
import { CONTROL_CHARACTERS, HALF_PAIRS, NOT_NORMAL, SPOILS, WHITE_SPACE } from '../names';

/** Invalid configurations are reported before any lock is taken. */
export const wrongConfigurations = cases({
  async 'an empty name, or one too long for every store, is refused (P7, F-66)'({ provider }) {
    for (const length of [0, 256, 1000, 1_000_000])
      await invalid(provider, { ...JOB, name: 'x'.repeat(length) });
    await invalid(provider, { ...JOB, name: '\u{1f512}'.repeat(256) });
  },

  async 'a name that is not a string is refused (P7)'({ provider }) {
    const primitives = [undefined, null, 0, 1, true, Symbol('job')];
    for (const name of [...primitives, ['job'], { name: 'job' }, new String('job')])
      await invalid(provider, { ...JOB, name });
  },

  async 'white space of any kind at either end of a name is refused (P7)'({ provider }) {
    for (const space of WHITE_SPACE)
      for (const name of [`${space}job`, `job${space}`, space, space.repeat(2)])
        await invalid(provider, { ...JOB, name });
  },

  async 'control characters in a name are refused (P7)'({ provider }) {
    for (const character of CONTROL_CHARACTERS)
      for (const name of [`jo${character}b`, character]) await invalid(provider, { ...JOB, name });
  },

  async 'half a surrogate pair in a name is refused (P7, F-66)'({ provider }) {
    for (const name of HALF_PAIRS) await invalid(provider, { ...JOB, name });
  },

  async 'a name that is not in Unicode normal form C is refused (P7)'({ provider }) {
    for (const part of NOT_NORMAL)
      for (const name of [part, `job-${part}-job`]) await invalid(provider, { ...JOB, name });
  },

  async 'a missing or invalid lockAtMostFor is refused, with the name of the lock (P7)'({ provider }) {
    for (const lockAtMostFor of [undefined, ...NO_DURATIONS, 0, '0s', 'PT0S'])
      await invalid(provider, { name: 'close-day', lockAtMostFor }, 'close-day');
  },

  async 'an invalid lockAtLeastFor is refused, with the name of the lock (P7)'({ provider }) {
    for (const lockAtLeastFor of [...NO_DURATIONS, '10m1ms', '1h', 600_001])
      await invalid(provider, { ...JOB, name: 'close-day', lockAtLeastFor }, 'close-day');
  },

  async 'an invalid keepAlive or maxLockDuration is refused, with the name of the lock (P7)'({ provider }) {
    for (const keepAlive of [...NO_DURATIONS, 0, '5m1ms', '10m'])
      await invalid(provider, { ...JOB, name: 'close-day', keepAlive }, 'close-day');
    for (const maxLockDuration of [...NO_DURATIONS, 0, '9m'])
      await invalid(provider, { ...JOB, name: 'close-day', keepAlive: true, maxLockDuration }, 'close-day');
    await invalid(provider, { ...JOB, name: 'close-day', maxLockDuration: '1h' }, 'close-day');
  },

  async 'a refused configuration locks nothing (P7)'({ provider, other }) {
    await granted(provider, JOB);
    for (const spoil of Object.values(SPOILS)) await invalid(other, { ...JOB, name: spoil(JOB.name) });
    await invalid(other, { ...JOB, name: 'contract-2', lockAtMostFor: 0 });
    await refused(other, JOB);
    await granted(other, { ...JOB, name: 'contract-2' });
  },
});

const NO_DURATIONS = [
  ...[-1, NaN, Infinity, {}, null],
  ...['', '10', '-1m', '1 m', '10M', 'soon', 'P1M', 'P1Y', 'P', 'PT', '366d'],
];
