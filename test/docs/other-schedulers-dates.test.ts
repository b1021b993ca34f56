import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { defaultRepeatStrategy } from 'bullmq';
import { currentRun, type JobGuard } from 'cronlatch';
import type { WrapOptions } from 'cronlatch/provider';
import { createTask } from 'node-cron';
import { tableOf } from '../support/checks/page';
import { CRON_SCHEDULER_NAMES, CRON_SCHEDULERS } from '../support/jobs/other-schedulers';
import { ledgerPlace, memoryStores } from '../support/stores/ledger-place';

const PAGE = 'docs/other-schedulers.md';
const PARIS = 'Europe/Paris';
const MINUTE_MS = 60_000;

/** A tick: its scheduled time by the recipe, and the time at which it arrived. */
interface Tick {
  readonly dueAt: Date | undefined;
  readonly cameAt: Date;
}

/** On a time that the test moves, for the schedulers as for `Date`. */
function onMovedTime<T>(now: Date, body: () => T): T {
  mock.timers.enable({ apis: ['Date', 'setTimeout'], now });
  try {
    return body();
  } finally {
    mock.timers.reset();
  }
}

/** A guard that runs nothing, and records the times of each tick. */
function noting(ticks: Tick[]): JobGuard {
  const wrap =
    (_configuration: object, _task: object, { scheduledAt }: WrapOptions) =>
    (...args: unknown[]) => {
      ticks.push({ dueAt: scheduledAt?.(...args), cameAt: new Date() });
      return Promise.resolve();
    };
  return { wrap } as unknown as JobGuard;
}

type CronScheduler = (typeof CRON_SCHEDULER_NAMES)[number];

const jobAt = (expression: string) => ({
  expression,
  timeZone: PARIS,
  guarded: { name: 'close-day', lockAtMostFor: '1m' } as const,
  run: () => Promise.resolve(),
});

/** What a scheduler does from `from` until just before `to`, looked at each minute. */
function ticksOf(scheduler: CronScheduler, expression: string, from: Date, to: Date): Tick[] {
  const ticks: Tick[] = [];
  onMovedTime(new Date(from.getTime() - 1), () => {
    const stop = CRON_SCHEDULERS[scheduler](noting(ticks), jobAt(expression));
    mock.timers.tick(1);
    for (let at = from.getTime() + MINUTE_MS; at < to.getTime(); at += MINUTE_MS) mock.timers.tick(MINUTE_MS);
    stop();
  });
  return ticks;
}

/** Of one that is not run here: its own answer to what comes next. */
type Ticks = (expression: string, from: Date, to: Date) => Date[];

const ASKED: Readonly<Record<string, Ticks>> = {
  BullMQ: (expression, from, to) => {
    const dates: Date[] = [];
    for (let at = from.getTime() - 1; ;) {
      const next = Number(defaultRepeatStrategy(at, { pattern: expression, tz: PARIS }));
      if (next >= to.getTime()) return dates;
      dates.push(new Date(next));
      at = next;
    }
  },
  'node-cron': (expression, from, to) =>
    onMovedTime(new Date(from.getTime() - 1), () => {
      const task = createTask(expression, () => undefined, { timezone: PARIS });
      const dates = task.getNextRuns(60).filter((date) => date < to);
      void task.destroy();
      return dates;
    }),
};

const RUN = Object.fromEntries(
  CRON_SCHEDULER_NAMES.map((scheduler): [string, Ticks] => [
    scheduler,
    (expression, from, to) => ticksOf(scheduler, expression, from, to).map(({ cameAt }) => cameAt),
  ]),
);

const SPRING = { from: new Date('2026-03-28T23:00:00Z'), to: new Date('2026-03-29T22:00:00Z') };
const AUTUMN = { from: new Date('2026-10-24T22:00:00Z'), to: new Date('2026-10-25T23:00:00Z') };

/** The clock's face in Paris, and which of the two where it is shown twice. */
function shown(date: Date): string {
  const time = new Intl.DateTimeFormat('en-GB', { timeZone: PARIS, timeStyle: 'short' }).format(date);
  const firstEndsAt = Date.parse('2026-10-25T01:00:00Z');
  const sinceFirst = date.getTime() - (firstEndsAt - 3_600_000);
  if (sinceFirst < 0 || sinceFirst >= 7_200_000) return time;
  return `${time}, the ${sinceFirst < 3_600_000 ? 'first' : 'second'}`;
}

function allShown(dates: readonly Date[]): string {
  return dates.map(shown).join(' and ') || 'no run';
}

void test('the page shows what each scheduler does when the clocks change', () => {
  const rows = Object.entries({ ...RUN, ...ASKED }).map(([scheduler, ticks]) => [
    scheduler,
    allShown(ticks('30 2 * * *', SPRING.from, SPRING.to)),
    allShown(ticks('30 2 * * *', AUTUMN.from, AUTUMN.to)),
    allShown(ticks('0 3 * * *', AUTUMN.from, AUTUMN.to)),
    `${ticks('0 * * * *', SPRING.from, SPRING.to).length} and ${ticks('0 * * * *', AUTUMN.from, AUTUMN.to).length}`,
  ]);
  assert.deepEqual(tableOf(PAGE, 'scheduler'), rows);
});

for (const scheduler of CRON_SCHEDULER_NAMES) {
  void test(`${scheduler}: the recipe returns the scheduled time of a tick, even when the clocks change`, () => {
    for (const { from, to } of [SPRING, AUTUMN]) {
      for (const expression of ['30 2 * * *', '0 3 * * *', '15 1-4 * * *', '*/30 * * * *']) {
        const ticks = ticksOf(scheduler, expression, from, to);
        assert.ok(ticks.length > 0);
        for (const { dueAt, cameAt } of ticks) assert.deepEqual(dueAt, cameAt, expression);
      }
    }
  });

  void test(`${scheduler}: a tick of 23:59 that comes after midnight counts for its own day`, async () => {
    const { place, close } = ledgerPlace(memoryStores('2026-11-20T23:07:00Z'));
    const { guard } = place.instance();
    const days: string[] = [];
    const completed = new Promise((resolve) => guard.on('run:completed', resolve));
    const job = {
      ...jobAt('59 23 * * *'),
      guarded: {
        name: 'close-day',
        lockAtMostFor: '1m',
        oncePer: { period: 'day', timeZone: PARIS },
      } as const,
      run: () => Promise.resolve(void days.push(currentRun().businessDate)),
    };
    onMovedTime(new Date('2026-11-20T22:58:30Z'), () => {
      const stop = CRON_SCHEDULERS[scheduler](guard, job);
      mock.timers.setTime(Date.parse('2026-11-20T23:06:00Z')); // Nothing could be called in between.
      mock.timers.tick(MINUTE_MS);
      stop();
    });
    try {
      await completed;
      assert.deepEqual(days, ['2026-11-20']);
    } finally {
      await close();
    }
  });
}

void test('of ticks that come too late, croner and cron run the last one, and node-schedule each', () => {
  const start = new Date('2026-11-20T03:00:30Z');
  const counted = CRON_SCHEDULER_NAMES.map((scheduler) => {
    const ticks: Tick[] = [];
    onMovedTime(start, () => {
      const stop = CRON_SCHEDULERS[scheduler](noting(ticks), jobAt('* * * * *'));
      mock.timers.setTime(Date.parse('2026-11-20T03:03:30Z'));
      mock.timers.tick(29_000);
      stop();
    });
    return [scheduler, ticks.map(({ dueAt }) => dueAt?.toISOString().slice(11, 16))];
  });
  assert.deepEqual(counted, [
    ['croner', ['03:03']],
    ['cron', ['03:03']],
    ['node-schedule', ['03:01', '03:02', '03:03']],
  ]);
});
