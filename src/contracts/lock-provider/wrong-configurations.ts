import { WRONG_NAMES } from '../names';
import { JOB, SECOND, granted, invalid, refused } from './assertions';
import { cases } from './fixture';

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
