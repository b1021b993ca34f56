import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { nightRow, type Night } from '../../bench/midnight/night-row';

const night = (allRanMs: number | undefined, statements: number, more: Partial<Night> = {}): Night => ({
  ...{ allRanMs, allEndedMs: 1000, cpuMs: 50, fewest: 10, most: 20, never: 0, twice: 0, failures: [] },
  counts: { statements, commits: statements },
  ...more,
});
const terms = { kind: 'locks', jobs: 100, processes: 8, hasGoal: true } as const;
const baseline = [night(800, 2000), night(1600, 2000), night(900, 2000)];

void suite('a row of the midnight', () => {
  void test('is compared with the baseline of the same night', () => {
    const nights = [night(100, 100), night(100, 100), night(100, 100)];
    const { values } = nightRow('library', { ...terms, nights, baseline });
    assert.deepEqual([values['sooner'], values['fewer'], values['verdict']], [9, 20, 'reached']);
  });

  void test('misses its goal if one process got more than twice its share, or a job ran twice', () => {
    for (const [more, once] of [
      [{ most: 26 }, 'yes'],
      [{ twice: 1 }, 'NO: 0 never, 1 twice, 0 failed ticks'],
    ] as const) {
      const { values } = nightRow('library', {
        ...terms,
        nights: [night(1, 1, more)],
        baseline: [night(800, 2000)],
      });
      assert.deepEqual([values['verdict'], values['once']], ['missed', once]);
    }
  });

  void test('has no times of a night in which a job never ran', () => {
    const nights = [night(undefined, 100, { never: 1 })];
    const { values } = nightRow('library', { ...terms, nights, baseline: [night(800, 2000)] });
    assert.deepEqual(
      [values['allRanMs'], values['sooner'], values['verdict']],
      [undefined, undefined, 'missed'],
    );
  });

  void test('claims and completions stay, so only the other statements of daily runs are compared', () => {
    const { values } = nightRow('library', {
      ...{ ...terms, kind: 'once-per-day' },
      nights: [night(100, 300)],
      baseline: [night(100, 2200)],
    });
    assert.deepEqual([values['fewerOthers'], values['verdict']], [20, 'reached']);
  });

  void test('of the baseline has nothing to be compared with', () => {
    const { isBaseline, values } = nightRow('driver alone', {
      ...{ ...terms, hasGoal: false },
      nights: baseline,
      baseline: undefined,
    });
    assert.equal(isBaseline, true);
    assert.deepEqual(
      [values['sooner'], values['fewer'], values['verdict']],
      [undefined, undefined, undefined],
    );
  });
});
