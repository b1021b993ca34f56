import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Schedule, type DeclaredSchedule } from '#cronlatch/ledger/periods/schedule';
import { readExpression, type Dialect } from '#cronlatch/ledger/periods/schedule-expression';
import { refused } from '../../support/checks/refused';

function scheduleOf(...declared: readonly DeclaredSchedule[]): Schedule {
  const schedule = Schedule.of(declared, ` of job 'close-day'`);
  assert.ok(schedule !== undefined);
  return schedule;
}

function cronOf(expression: string, dialect: Dialect, timeZone = 'UTC'): Schedule {
  return scheduleOf({ expression, dialect, timeZone });
}

/** `2026-11-28T02:00Z`, without what is zero at the end. */
function short(at: Date | undefined): string | undefined {
  return at?.toISOString().replace(/(:00)?\.000Z$/, 'Z');
}

function timesAfter(schedule: Schedule, after: string, count: number): (string | undefined)[] {
  return schedule.following(new Date(after), count).map(short);
}

for (const [dialect, expression, read] of [
  ['node-cron', '0 22-2 * * *', '0 0 22,23,0,1,2 * * *'],
  ['node-cron', '0 0 * * 5-1', '0 0 0 * * 5,6,0,1'],
  ['node-cron', '*/90 * * * *', '0 0 * * * *'],
  ['node-cron', '0 0 1 January *', '0 0 0 1 1 *'],
  ['node-cron', '0 0 * * Monday-fri', '0 0 0 * * 1,2,3,4,5'],
  ['node-cron', '0 0 * * mon#2', '0 0 0 * * 1#2'],
  ['node-cron', '0 0 * * fril,7L', '0 0 0 * * 5L,0L'],
  ['node-cron', '0 0 L,31w * *', '0 0 0 L,31W * *'],
  ['node-cron', '0 0 ? * ?', '0 0 0 * * *'],
  ['node-cron', '0 0 * * 0L,1,2,3,4,5,6', '0 0 0 * * 0L,1,2,3,4,5,6'],
  ['node-cron', '@daily', '0 0 0 * * *'],
  ['cron', '5/15 * * * *', '0 5,20,35,50 * * * *'],
  ['cron', '10 5 * * * 7', '10 5 * * * 0'],
  ['cron', '0 0 13 * 1-7', '0 0 0 13 * *'],
  ['cron', '@weekdays', '0 0 0 * * 1,2,3,4,5'],
  ['cron', '@weekends', '0 0 0 * * 0,6'],
  ['cron', '@minutely', '0 * * * * *'],
  ['cron', '@secondly', '* * * * * *'],
  [
    'unix',
    '0 3 1-31 * 1',
    '0 0 3 1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31 * 1',
  ],
  ['unix', ' @Yearly ', '0 0 0 1 1 *'],
  ['unix', '0 0 * jan-mar SUN', '0 0 0 * 1,2,3 0'],
  ['croner', ' 0 0 13 * +5 ', '0 0 13 * +5'],
] as const)
  void test(`'${expression}' of ${dialect} is '${read}' for croner`, () => {
    assert.equal(readExpression(expression, dialect), read);
  });

for (const [dialect, expression, reason] of [
  ['unix', '0 3 32 * foo', `its day of the month is '32'`],
  ['unix', '0 3 * * foo', `its weekday is 'foo'`],
  ['unix', '0 0 3 * * *', 'its number of fields is 6 instead of 5'],
  ['unix', '? 3 * * *', `its minute is '?'`],
  ['unix', '0 +3 * * *', `its hour is '+3'`],
  ['cron', '1.5 * * * * *', `its second is '1.5'`],
  ['unix', '0 3 L * *', `its day of the month is 'L'`],
  ['unix', '0 3 15W * *', `its day of the month is '15W'`],
  ['unix', '0 3 * * 1#2', `its weekday is '1#2'`],
  ['unix', '0 3 * * +1', `its weekday is '+1'`],
  ['unix', '0 22-2 * * *', `its hour is '22-2'`],
  ['unix', '5/15 * * * *', `its minute is '5/15'`],
  ['unix', '@reboot', 'its number of fields is 1 instead of 5.'],
  ['unix', '2027-01-01T00:00Z', 'its number of fields is 1 instead of 5.'],
  [
    'croner',
    '2027-01-01T00:00Z',
    'its number of fields is 1 instead of 5, 6 with seconds, or 7 with a year.',
  ],
  ['unix', '0 3 */2 * 1', 'Write the days as a list, such as 1,3,5.'],
  ['unix', '0 3 1 * */2', 'Write the days as a list, such as 1,3,5.'],
  ['unix', '0 3 31 2 *', 'never fires: no date matches it.'],
  ['node-cron', '0 3 L-2 * *', `its day of the month is 'L-2'`],
  ['node-cron', '0 3 LW,1 * *', 'LW can not be in a list'],
  ['node-cron', '? 3 * * *', `its minute is '?'`],
  ['node-cron', '0 3 * * 15L', `its weekday is '15L'`],
  ['node-cron', '0 3 * *', 'its number of fields is 4 instead of 5, or 6 with seconds'],
  ['cron', '0 3 ? * *', `its day of the month is '?'`],
  ['croner', '0 3 * * foo', 'cannot be read'],
] as const)
  void test(`'${expression}' of ${dialect} is refused, and the error names the job and the reason`, () => {
    refused(() => cronOf(expression, dialect), expression, `of job 'close-day'`, reason);
  });

for (const timeZone of ['Europe/Pari', 'BST', '+5:30', '+25:00'])
  void test(`a schedule in '${timeZone}' is refused`, () => {
    refused(() => cronOf('0 3 * * *', 'cron', timeZone), `of job 'close-day'`);
  });

for (const [what, schedule, after, times] of [
  ['node-cron needs both days', cronOf('0 0 13 * 5', 'node-cron'), '2026-11-28', ['2027-08-13T00:00Z']],
  [
    'cron needs one of the days',
    cronOf('0 0 13 * 5', 'cron'),
    '2026-12-05',
    ['2026-12-11T00:00Z', '2026-12-13T00:00Z'],
  ],
  [
    'unix needs one of the days',
    cronOf('0 0 13 * 5', 'unix'),
    '2026-12-12',
    ['2026-12-13T00:00Z', '2026-12-18T00:00Z'],
  ],
  ['croner may need both', cronOf('0 0 13 * +5', 'croner'), '2026-11-28', ['2027-08-13T00:00Z']],
  ['an offset', cronOf('0 3 * * *', 'unix', '+05:30'), '2026-11-28', ['2026-11-28T21:30Z']],
  ['an offset west of UTC', cronOf('0 3 * * *', 'cron', '-09:30'), '2026-11-28', ['2026-11-28T12:30Z']],
  ['one date', scheduleOf({ at: '2026-11-28T12:00:00Z' }), '2026-11-28', ['2026-11-28T12:00Z']],
  ['one date, passed', scheduleOf({ at: '2026-11-28T12:00:00Z' }), '2026-11-28T12:00Z', []],
  [
    'a union, with an interval of each process',
    scheduleOf(
      { expression: '0 3 * * *', dialect: 'unix', timeZone: 'UTC' },
      { expression: '0 2 * * *', dialect: 'cron', timeZone: 'UTC' },
      { at: '2026-11-28T02:30:00Z' },
      { every: 1000 },
    ),
    '2026-11-28',
    ['2026-11-28T02:00Z', '2026-11-28T02:30Z', '2026-11-28T03:00Z', '2026-11-29T02:00Z'],
  ],
] as const)
  void test(`the next times of a schedule: ${what}`, () => {
    assert.deepEqual(timesAfter(schedule, after, times.length || 1), times);
  });

void test('an interval has no times that all instances share', () => {
  assert.equal(Schedule.of([]), undefined);
  const schedule = Schedule.of([{ every: 60_000 }]);
  assert.deepEqual([schedule?.next(new Date()), schedule?.previous(new Date())], [undefined, undefined]);
});

void test('an expression that only its scheduler reads has no times', () => {
  assert.equal(Schedule.UNKNOWN.next(new Date()), undefined);
  assert.equal(Schedule.UNKNOWN.previous(new Date()), undefined);
});

/** Change | expression | zone | after | its next two times */
const CHANGES = `
skipped: a single time | 30 2 * * * | Europe/Paris | 2027-03-28 | 2027-03-28T01:00Z | 2027-03-29T00:30Z
skipped: a step | */15 2 * * * | Europe/Paris | 2027-03-28 | 2027-03-28T01:00Z | 2027-03-29T00:00Z
skipped: a list | 0,30 2 * * * | Europe/Paris | 2027-03-28 | 2027-03-28T01:00Z | 2027-03-29T00:00Z
skipped in part | 30 * * * * | Europe/Paris | 2027-03-28 | 2027-03-28T00:30Z | 2027-03-28T01:30Z
repeated: a single time | 30 2 * * * | Europe/Paris | 2026-10-25 | 2026-10-25T00:30Z | 2026-10-26T01:30Z
repeated: a list | 0,30 2 * * * | Europe/Paris | 2026-10-25T00:30Z | 2026-10-25T01:00Z | 2026-10-25T01:30Z
repeated: hourly | 0 * * * * | Europe/Paris | 2026-10-24T23:30Z | 2026-10-25T00:00Z | 2026-10-25T01:00Z
half an hour skipped | 15 2 * * * | Australia/Lord_Howe | 2026-10-03 | 2026-10-03T15:30Z | 2026-10-04T15:15Z
half an hour repeated | 45 1 * * * | Australia/Lord_Howe | 2027-04-03 | 2027-04-03T14:45Z | 2027-04-04T15:15Z
skipped until midnight | 30 23 * * * | America/Nuuk | 2027-03-28 | 2027-03-28T01:00Z | 2027-03-29T00:30Z
`;

for (const row of CHANGES.trim().split('\n')) {
  const [what, expression = '', timeZone, after = '', first = '', second = ''] = row.split(' | ');
  void test(`clocks change: ${what} (S-12)`, () => {
    const schedule = cronOf(expression, 'node-cron', timeZone);
    assert.deepEqual(timesAfter(schedule, after, 2), [first, second]);
    // Both directions agree.
    assert.equal(short(schedule.previous(new Date(Date.parse(second) - 1))), first);
    assert.equal(short(schedule.previous(new Date(second))), second);
  });
}

for (const [dialect, expression] of [
  ['node-cron', '30-30 2 * * *'],
  ['cron', '30,30 2-2 * * *'],
  ['croner', '30-30 2 * * *'],
  ['croner', '30,030 02 * * *'],
  ['unix', '30-30 2-2 * * *'],
] as const)
  void test(`clocks change: '${expression}' of ${dialect} is a single time, however it is written (S-12)`, () => {
    const schedule = cronOf(expression, dialect, 'Europe/Paris');
    assert.deepEqual(timesAfter(schedule, '2026-10-25', 2), ['2026-10-25T00:30Z', '2026-10-26T01:30Z']);
  });

void test('the previous time is not after an instant, to the millisecond', () => {
  const schedule = cronOf('0 3 * * *', 'unix');
  for (const [at, time] of [
    ['2026-11-28T02:59:59.999Z', '2026-11-27T03:00Z'],
    ['2026-11-28T03:00:00.000Z', '2026-11-28T03:00Z'],
    ['2026-11-28T03:00:00.001Z', '2026-11-28T03:00Z'],
  ] as const)
    assert.equal(short(schedule.previous(new Date(at))), time);
});

void test('a stretch of time has its first scheduled time, the start included and the end excluded', () => {
  const schedule = cronOf('0 3 * * *', 'unix');
  const firstIn = (start: string, end: string): string | undefined =>
    short(schedule.firstIn({ start: new Date(start), end: new Date(end) }));
  assert.equal(firstIn('2026-11-28T03:00Z', '2026-11-28T04:00Z'), '2026-11-28T03:00Z');
  assert.equal(firstIn('2026-11-28T02:00Z', '2026-11-28T03:00Z'), undefined);
});
