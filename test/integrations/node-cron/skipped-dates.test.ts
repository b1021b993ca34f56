import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleDistributed, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { createTask, getTasks } from 'node-cron';
import { callsOf } from '#cronlatch/guard/calls/calls';
import { warnOfSkippedDates } from '#cronlatch/integrations/node-cron/skipped-dates';
import { guardBench } from '../../support/benches/guard';
import { JOB } from '../../support/benches/lock';
import { ledgerPlace, memoryStores } from '../../support/stores/ledger-place';

const NOW = '2026-11-20T03:00:00Z';

const job = callsOf(guardBench().guard).jobOf(JOB);

/** The dates within a year on which a job does not start, from the warnings. */
function skipped(
  schedules: readonly (readonly [expression: string, timeZone: string])[],
  now = NOW,
): string[] {
  const warnings: string[] = [];
  const integration = { warn: (message: string) => void warnings.push(message) };
  const each = schedules.map(([expression, timeZone]) => ({ expression, timeZone }));
  warnOfSkippedDates(integration, [{ ...job, schedules: each }], new Date(now));
  assert.equal(getTasks().size, 0);
  return warnings.flatMap((warning) => warning.match(/\d{4}-\d\d-\d\d/g) ?? []);
}

const CASES: [expression: string, timeZone: string, dates: string[]][] = [
  ['30 2 * * *', 'Europe/Paris', ['2027-03-28']],
  ['30 2 * * *', 'America/New_York', ['2027-03-14']],
  ['0 0 * * *', 'Africa/Cairo', ['2027-04-30']],
  ['0 2 * * *', 'Australia/Lord_Howe', ['2027-10-03']],
  ['*/30 2 * * *', 'Europe/Paris', ['2027-03-28']],
  ['59 59 2 * * *', 'Europe/Paris', ['2027-03-28']],
  ['*/20 * 2 * * *', 'Europe/Paris', ['2027-03-28']],
  ['30 2 * * 0', 'Europe/Paris', ['2027-03-28']],
  ['30 2 * * 0L', 'Europe/Paris', ['2027-03-28']],
  ['30 2 28 3 *', 'Europe/Paris', ['2027-03-28']],
  ['30 2 * * *', 'UTC', []],
  ['30 2 * * *', 'Asia/Tokyo', []],
  ['30 3 * * *', 'Europe/Paris', []],
  ['0 3 * * *', 'Europe/Paris', []],
  ['30 1 * * *', 'Europe/Paris', []],
  ['30 2 * * *', 'Australia/Lord_Howe', []],
  ['0 * * * *', 'Europe/Paris', []],
  ['30 2,4 * * *', 'Europe/Paris', []],
  ['30 2 * * 1-6', 'Europe/Paris', []],
  ['30 2 1 * *', 'Europe/Paris', []],
  ['@daily', 'Europe/Paris', []],
  ['30 2 * * *', '+02:00', []],
];

for (const [expression, timeZone, dates] of CASES) {
  void test(`'${expression}' in ${timeZone} skips ${dates.join() || 'nothing'}`, () => {
    assert.deepEqual(skipped([[expression, timeZone]]), dates);
  });
}

void test('node-cron has in fact no tick on those dates, and has later ones', () => {
  for (const [expression, timezone, [date = '']] of CASES.filter(([, , dates]) => dates.length > 0)) {
    mock.timers.enable({ apis: ['Date'], now: Date.parse(date) - 86_400_000 });
    const task = createTask(expression, () => undefined, { timezone });
    const dayIn = new Intl.DateTimeFormat('en-CA', { timeZone: timezone });
    const days = task.getNextRuns(400).map((tick) => dayIn.format(tick));
    void task.destroy();
    mock.timers.reset();
    const subject = `${expression} in ${timezone}`;
    assert.ok(!days.includes(date), subject);
    assert.ok((days.at(-1) ?? '') > date, subject);
  }
});

void test('another schedule of the method on that date counts as a tick, too', () => {
  const atNight = ['30 2 * * *', 'Europe/Paris'] as const;
  assert.deepEqual(skipped([atNight, ['0 12 * * *', 'Europe/Paris']]), []);
  assert.deepEqual(skipped([atNight, ['0 12 * * 1', 'Europe/Paris']]), ['2027-03-28']);
  assert.deepEqual(skipped([atNight, ['45 2 * * *', 'Europe/Paris']]), ['2027-03-28', '2027-03-28']);
});

void test('the gap is searched within a year from now', () => {
  const atNight = ['30 2 * * *', 'Europe/Paris'] as const;
  assert.deepEqual(skipped([atNight], '2027-03-26T00:59:00Z'), ['2027-03-28']);
  assert.deepEqual(skipped([atNight], '2027-03-28T00:59:00Z'), ['2027-03-28', '2028-03-26']);
  assert.deepEqual(skipped([atNight], '2027-03-28T01:00:00Z'), ['2028-03-26']);
});

void test('a thousand jobs in one zone are checked within a moment', () => {
  const beganAtMs = performance.now();
  const each = { expression: '0 3 * * *', timeZone: 'America/Toronto' };
  const jobs = Array.from({ length: 1000 }, () => ({ ...job, schedules: [each] }));
  warnOfSkippedDates(callsOf(guardBench().guard), jobs, new Date(NOW));
  assert.ok(performance.now() - beganAtMs < 10_000);
});

class Nightly {
  @Scheduled('30 2 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('nightly', '1m')
  async job(): Promise<void> {}
}

void test('each integration warns at the start, with the job, the zone and the date', async () => {
  mock.timers.enable({ apis: ['Date'], now: new Date(NOW) });
  const { place, close } = ledgerPlace(memoryStores(NOW));
  const here = place.instance();
  const { guard } = here;
  scheduleJobs(new Nightly(), { guard });
  const options = { guard, timeZone: 'America/New_York' };
  scheduleLocked('30 2 * * *', JOB, () => {}, options);
  scheduleDistributed('15 2 * * *', () => {}, { ...options, name: 'settle' });
  await close();
  mock.timers.reset();
  const messages = here.of('guard:warning').map(({ message }) => message);
  assert.equal(messages.length, 3);
  assert.match(
    messages[0] ?? '',
    /^Job 'nightly' is scheduled at '30 2 \* \* \*' in Europe\/Paris, .* on 2027-03-28, so the job will not start on that date/,
  );
  assert.match(messages[1] ?? '', /^Job 'job' is scheduled at '30 2 \* \* \*' .* on 2027-03-14, so/);
  assert.match(messages[2] ?? '', /^Job 'settle' is scheduled at '15 2 \* \* \*' .* on 2027-03-14, so/);
});
