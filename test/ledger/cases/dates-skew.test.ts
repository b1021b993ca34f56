import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configureJobGuard, OncePerDay, SchedulerLock } from 'cronlatch';
import { invoke } from '#cronlatch/guard/calls/invocation';
import { periodAt } from '#cronlatch/ledger/periods/period';
import { correctedTime } from '#cronlatch/ledger/tick/ledger-snapshot';
import { sampleSize } from '../../support/checks/sample-size';
import { SkewedClock } from '../../support/clocks/skewed-clock';
import { closeDay, diary, rowsOf } from '../../support/jobs/close-day';
import { testLedger } from '../../support/stores/ledger-tests';

/** Midnight in Paris: 21 November begins. */
const MIDNIGHT = new Date('2026-11-20T23:00:00Z');
const NEXT_MIDNIGHT = new Date('2026-11-21T23:00:00Z');
const MOST_SKEW_MS = 10_000;

/**
 * The step between skews in the tests of whole runs; the arithmetic is tested in steps of one millisecond.
 */
const STEP_MS = sampleSize({ fast: 250, full: 20 });

testLedger(
  'midnight ticks from clocks up to 10 s wrong count for the new day: none is missed or doubled (L-36)',
  async (place) => {
    const clock = new SkewedClock(place.clock);
    const instance = place.instance({ clock });
    const { task, runs } = diary();
    const results: boolean[] = [];
    // The first host's midnight is 10 s early, the last one's 10 s late. Pairs of hosts with the same skew
    // share a job.
    for (let skewMs = MOST_SKEW_MS; skewMs >= -MOST_SKEW_MS; skewMs -= STEP_MS) {
      clock.skewMs = skewMs;
      const job = closeDay({ scope: `${Math.abs(skewMs)} ms` });
      results.push((await instance.guard.run({ ...job, scheduledAt: MIDNIGHT }, task)).executed);
      await place.elapse(STEP_MS);
    }
    const jobs = MOST_SKEW_MS / STEP_MS + 1;
    assert.equal(results.filter((executed) => executed).length, jobs);
    assert.deepEqual(new Set(runs.map(({ periodKey }) => periodKey)), new Set(['2026-11-21']));
    assert.equal(new Set(runs.map(({ scope }) => scope)).size, jobs);
    assert.deepEqual(instance.of('guard:warning'), []);
  },
  { now: '2026-11-20T22:59:50Z' },
);

void test('in steps of 1 ms, a clock up to 10 s wrong never changes a given scheduled time (L-36)', () => {
  const period = { kind: 'day', timeZone: 'Europe/Paris' } as const;
  for (let skewMs = -MOST_SKEW_MS; skewMs <= MOST_SKEW_MS; skewMs += 1) {
    const known = correctedTime(MIDNIGHT, skewMs, 300_000);
    assert.deepEqual(known, { instant: MIDNIGHT });
    assert.equal(periodAt(known.instant, period).key, '2026-11-21');
  }
});

testLedger(
  'a decorated method receives the scheduled time from its scheduler (L-36)',
  async (place) => {
    const clock = new SkewedClock(place.clock);
    const instance = place.instance({ clock });
    const { task, runs } = diary();
    class Bank {
      @OncePerDay({ timeZone: 'Europe/Paris' })
      @SchedulerLock('close-day', '1m')
      close(): Promise<unknown> {
        return task();
      }
    }
    const bank = new Bank();
    configureJobGuard(instance.guard, { replace: true });
    try {
      // A second early, then a second late.
      for (const [skewMs, scheduledAt] of [
        [1000, MIDNIGHT],
        [-1000, MIDNIGHT],
        [1000, NEXT_MIDNIGHT],
        [-1000, NEXT_MIDNIGHT],
      ] as const) {
        clock.skewMs = skewMs;
        const untilMs = scheduledAt.getTime() - skewMs - place.clock.wallMs();
        await place.elapse(Math.max(0, untilMs));
        await invoke({ scheduledAt }, () => bank.close());
      }
    } finally {
      configureJobGuard(undefined);
    }
    assert.deepEqual(
      runs.map(({ periodKey, scheduledAt }) => [periodKey, scheduledAt]),
      [
        ['2026-11-21', MIDNIGHT],
        ['2026-11-22', NEXT_MIDNIGHT],
      ],
    );
  },
  { now: '2026-11-20T22:59:50Z' },
);

testLedger(
  'runOverdue just before midnight is not a tick, so it does not warn about a missing scheduled time (L-36)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const { task } = diary();
    guard.wrap(closeDay({ catchUp: 'all' }), task);
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    assert.deepEqual(instance.of('guard:warning'), []);
  },
  { now: '2026-11-20T22:59:57Z' },
);

testLedger(
  'without a scheduled time the database’s time counts, and just before midnight a warning recommends one (L-36)',
  async (place) => {
    const instance = place.instance();
    const { task, periods } = diary();
    place.clock.jump(60_000);
    await instance.guard.run(closeDay({ scope: 'early' }), task);
    assert.deepEqual(instance.of('guard:warning'), []);
    await place.elapse('16s');
    await instance.guard.run(closeDay({ scope: 'just before' }), task);
    const [warning, ...more] = instance.of('guard:warning');
    assert.match(warning?.message ?? '', /close-day.*just before its next period begins.*scheduledAt/);
    assert.equal(more.length, 0);
    await place.elapse('5s');
    await instance.guard.run(closeDay({ scope: 'after' }), task);
    assert.equal(instance.of('guard:warning').length, 1);
    assert.deepEqual(periods(), ['2026-11-20', '2026-11-20', '2026-11-21']);
  },
  { now: '2026-11-20T22:59:40Z' },
);

for (const [what, aheadMinutes, now, key] of [
  ['ahead: it computes a midnight of today', 10, '2026-11-20T22:50:00Z', '2026-11-20'],
  ['behind: it computes an evening of tomorrow', -10, '2026-11-20T23:09:00Z', '2026-11-21'],
] as const) {
  testLedger(
    `a clock that is wrong by more than maxSkew is corrected, with a warning (${what}) (L-36)`,
    async (place) => {
      const instance = place.instance();
      place.clock.jump(aheadMinutes * 60_000);
      const { task, runs } = diary();
      const scheduledAt = new Date(place.clock.wallMs());
      await instance.guard.run({ ...closeDay(), scheduledAt }, task);
      assert.deepEqual([runs[0]?.periodKey, runs[0]?.scheduledAt], [key, scheduledAt]);
      const [warning] = instance.of('guard:warning');
      assert.match(
        warning?.message ?? '',
        /clock of this host is (59|60)\d s (ahead of|behind) the database's/,
      );
      // A job with a larger maxSkew is not corrected.
      await instance.guard.run({ ...closeDay({ name: 'trusting', maxSkew: '15m' }), scheduledAt }, task);
      assert.notEqual(runs[1]?.periodKey, key);
    },
    { now },
  );
}

testLedger(
  'a tick 8 minutes late, after midnight, runs its own day, and the next tick runs the next day (L-45)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = diary();
    const scheduledAt = new Date('2026-11-20T22:55:00Z');
    await instance.guard.run({ ...closeDay(), scheduledAt }, task);
    const next = new Date('2026-11-21T22:55:00Z');
    await place.elapse('1d');
    await instance.guard.run({ ...closeDay(), scheduledAt: next }, task);
    assert.deepEqual(
      runs.map((run) => [run.periodKey, run.scheduledAt]),
      [
        ['2026-11-20', scheduledAt],
        ['2026-11-21', next],
      ],
    );
    assert.deepEqual(instance.of('guard:warning'), []);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed', '2026-11-21 completed']);
  },
  { now: '2026-11-20T23:03:00Z' },
);
