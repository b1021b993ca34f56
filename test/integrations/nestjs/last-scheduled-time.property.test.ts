import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { CronTime } from 'cron';
import { lastScheduledTime } from '#cronlatch/integrations/nestjs/scheduled-times';
import fc from 'fast-check';
import { sampleSize } from '../../support/checks/sample-size';

const ZONES = [
  ...['UTC', 'Europe/Paris', 'America/New_York', 'America/St_Johns', 'Asia/Kathmandu', 'Africa/Cairo'],
  ...['Australia/Sydney', 'Australia/Lord_Howe', 'America/Santiago', 'Asia/Beirut', 'UTC+5:45'],
];
const EXPRESSIONS = [
  ...['* * * * * *', '*/7 * * * * *', '*/30 2 * * *', '30 2 * * *', '0 0 * * *', '30 * * * *', '15 1 * * *'],
  ...['0 3 * * 1', '0 12 1 * *', '59 59 23 31 12 *', '0 0 29 2 *', '55 23 * * 1-5', '* * 3 * * *'],
];
const FROM = Date.parse('2025-01-01T00:00:00Z');
const TO = Date.parse('2027-12-31T00:00:00Z');

// How `cron` treats a repeated hour depends on the host's time.
beforeEach(() => mock.timers.enable({ apis: ['Date'], now: FROM }));
afterEach(() => mock.timers.reset());

const numRuns = sampleSize({ fast: 300, full: 5_000 });

void test('a tick that comes in time has the scheduled time for which cron set its timer', () => {
  const tick = fc.record({
    zone: fc.constantFrom(...ZONES),
    expression: fc.constantFrom(...EXPRESSIONS),
    armedAtMs: fc.integer({ min: FROM, max: TO }),
    lateMs: fc.integer({ min: 0, max: 999 }),
  });
  fc.assert(
    fc.property(tick, ({ zone, expression, armedAtMs, lateMs }) => {
      const cronTime = new CronTime(expression, zone);
      mock.timers.setTime(armedAtMs);
      const due = cronTime.getNextDateFrom(new Date(armedAtMs), zone).toMillis();
      mock.timers.setTime(due + lateMs);
      const instant = lastScheduledTime(cronTime, zone, due + lateMs);
      assert.equal(instant?.toISOString(), new Date(due).toISOString());
    }),
    { numRuns },
  );
});

void test('a late tick has the last scheduled time before it', () => {
  const tick = fc.record({
    // In zones without clock changes, the test can count the scheduled times one by one.
    zone: fc.constantFrom('UTC', 'Asia/Kathmandu', 'UTC+5:45'),
    expression: fc.constantFrom('30 2 * * *', '0 0 * * *', '30 * * * *', '0 3 * * 1', '55 23 * * 1-5'),
    armedAtMs: fc.integer({ min: FROM, max: TO }),
    lateMs: fc.integer({ min: 0, max: 2 * 86_400_000 }),
  });
  fc.assert(
    fc.property(tick, ({ zone, expression, armedAtMs, lateMs }) => {
      const cronTime = new CronTime(expression, zone);
      const after = (at: Date): Date => cronTime.getNextDateFrom(at, zone).toJSDate();
      let last = after(new Date(armedAtMs));
      const now = last.getTime() + lateMs;
      for (let next = after(last); next.getTime() <= now; next = after(next)) last = next;
      assert.equal(lastScheduledTime(cronTime, zone, now)?.toISOString(), last.toISOString());
    }),
    { numRuns: Math.ceil(numRuns / 10) },
  );
});

void test('a schedule without a past scheduled time has no last one', () => {
  const inNineYears = (from: Date): number => from.getTime() + 9 * 366 * 86_400_000;
  const cronTime = { getNextDateFrom: (from: Date) => ({ toMillis: () => inNineYears(from) }) };
  assert.equal(lastScheduledTime(cronTime, 'UTC', FROM), undefined);
});
