import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { SchedulerLock } from 'cronlatch';
import { Scheduled, scheduleDistributed, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { createTask } from 'node-cron';
import { guardBench } from '../../support/benches/guard';
import { JOB } from '../../support/benches/lock';
import { ledgerPlace, memoryStores } from '../../support/stores/ledger-place';

const NOW = '2026-11-20T03:00:00Z';

/** The date within a year on which a job does not start, from the warning. */
function skipped(
  schedules: readonly (readonly [expression: string, timeZone: string])[],
  now = NOW,
): string[] {
  mock.timers.enable({ apis: ['Date'], now: new Date(now) });
  const { guard, events } = guardBench();
  const warnings: string[] = [];
  events.on('guard:warning', ({ message }) => void warnings.push(message));
  for (const [expression, timeZone] of schedules)
    void scheduleLocked(expression, { ...JOB, lockAtLeastFor: 0 }, () => {}, { guard, timeZone }).destroy();
  mock.timers.reset();
  return warnings.flatMap((warning) => / on (\d{4}-\d\d-\d\d):/.exec(warning)?.[1] ?? []);
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

void test('the gap is searched within a year from now', () => {
  const atNight = ['30 2 * * *', 'Europe/Paris'] as const;
  assert.deepEqual(skipped([atNight], '2027-03-26T00:59:00Z'), ['2027-03-28']);
  assert.deepEqual(skipped([atNight], '2027-03-28T00:59:00Z'), ['2027-03-28']);
  assert.deepEqual(skipped([atNight], '2027-03-28T01:00:00Z'), ['2028-03-26']);
});

class Nightly {
  @Scheduled('30 2 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('nightly', '1m')
  async job(): Promise<void> {}
}

class TwiceADay {
  @Scheduled('30 2 * * *', { timeZone: 'Europe/Paris' })
  @Scheduled('0 12 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('twice a day', '1m')
  async job(): Promise<void> {}
}

void test('a job with only a lock is warned of at the start, with its name and the date', async () => {
  mock.timers.enable({ apis: ['Date'], now: new Date(NOW) });
  const { place, close } = ledgerPlace(memoryStores(NOW));
  const here = place.instance();
  const { guard } = here;
  scheduleJobs([new Nightly(), new TwiceADay()], { guard });
  const options = { guard, timeZone: 'America/New_York' };
  scheduleDistributed('15 2 * * *', () => {}, { ...options, name: 'settle' });
  await close();
  mock.timers.reset();
  const messages = here.of('guard:warning').map(({ message }) => message);
  assert.equal(messages.length, 1);
  assert.match(
    messages[0] ?? '',
    /^Job 'nightly' does not run on 2027-03-28: at 2027-03-28T01:00:00.000Z, the clocks/,
  );
});
