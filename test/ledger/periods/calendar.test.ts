import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { SettableClock } from 'cronlatch/testing';
import {
  askCalendar,
  type BusinessCalendar,
  everyDay,
  weekdays,
  withHolidays,
  withWorkingDays,
} from '#cronlatch/ledger/periods/calendar';

const ask = (calendar: BusinessCalendar, date: string) =>
  askCalendar(calendar, date, { clock: new SettableClock() });

void test('a holiday is not a business day, and a make-up Saturday is one (L-34)', async () => {
  const china = withWorkingDays(withHolidays(weekdays(), ['2026-10-01', '2026-10-02']), ['2026-10-10']);
  const answers: [string, string][] = [
    ['2026-09-30', 'business-day'],
    ['2026-10-01', 'holiday'],
    ['2026-10-02', 'holiday'],
    ['2026-10-03', 'holiday'],
    ['2026-10-04', 'holiday'],
    ['2026-10-05', 'business-day'],
    ['2026-10-10', 'business-day'],
    ['2026-10-11', 'holiday'],
  ];
  for (const [date, answer] of answers) assert.equal(await ask(china, date), answer, date);
});

void test('the last entry for a date counts (L-34)', async () => {
  const date = '2026-11-20';
  assert.equal(await ask(withHolidays(withWorkingDays(everyDay, [date]), [date]), date), 'holiday');
  assert.equal(await ask(withWorkingDays(withHolidays(everyDay, [date]), [date]), date), 'business-day');
});

void test('weekdays are Monday to Friday, also before 1970 (L-34)', () => {
  for (let day = -400; day < 400; day++) {
    const date = new Date(day * 86_400_000);
    const expected = date.getUTCDay() !== 0 && date.getUTCDay() !== 6;
    assert.equal(weekdays().isBusinessDay(date.toISOString().slice(0, 10)), expected);
  }
  assert.equal(everyDay.isBusinessDay('2026-11-22'), true);
});

void test('a holiday that is not a date is rejected when the calendar is created (L-34)', () => {
  for (const dates of [
    ['2026-02-29'],
    ['1 May'],
    [new Date(0) as unknown as string],
    '2026-05-01',
    [undefined as unknown as string],
  ]) {
    assert.throws(
      () => withHolidays(everyDay, dates),
      (error) => error instanceof InvalidLockConfigurationError && error.message.startsWith('a holiday is '),
    );
    assert.throws(() => withWorkingDays(everyDay, dates), InvalidLockConfigurationError);
  }
});

void test('changing the list of dates afterwards does not change the calendar (L-34)', () => {
  const dates = ['2026-11-20'];
  const calendar = withHolidays(everyDay, dates);
  dates.push('2026-11-21');
  assert.equal(calendar.isBusinessDay('2026-11-21'), true);
});

void test('a calendar may answer asynchronously (L-34)', async () => {
  assert.equal(await ask({ isBusinessDay: () => Promise.resolve(true) }, '2026-11-20'), 'business-day');
  assert.equal(await ask({ isBusinessDay: () => Promise.resolve(false) }, '2026-11-20'), 'holiday');
});

void test('a calendar that hangs has failed after five seconds (L-34)', async () => {
  const clock = new SettableClock();
  let answer = (said: boolean): void => void said;
  const calendar = { isBusinessDay: () => new Promise<boolean>((resolve) => (answer = resolve)) };
  const asked = askCalendar(calendar, '2026-11-20', { clock });
  clock.advance('5s');
  assert.deepEqual(await asked, { failed: 'the calendar did not answer for 2026-11-20 within 5000 ms' });
  answer(true);

  const again = askCalendar(calendar, '2026-11-20', { clock });
  clock.advance(4999);
  answer(true);
  assert.equal(await again, 'business-day');
});

for (const said of [undefined, null, 1, 'true', 'time-out', {}])
  void test(`a calendar that returns ${JSON.stringify(said)} has failed: it is neither true nor false (L-34)`, async () => {
    const answer = await ask({ isBusinessDay: () => said as boolean }, '2026-11-20');
    assert.ok(typeof answer === 'object' && answer.failed.includes('neither true nor false'));
  });
