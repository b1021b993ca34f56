import assert from 'node:assert/strict';
import { test } from 'node:test';
import { businessDateAt, startOfBusinessDate } from '#cronlatch/ledger/periods/business-date';
import { sampleSize } from '../../support/checks/sample-size';
import { WallClock } from '../../support/clocks/wall';

const at = (text: string): Date => new Date(text);
const later = (instant: Date, ms: number): Date => new Date(instant.getTime() + ms);

/** Case | zone | day start | business date | its first instant */
const STARTS = `
L-35 | Asia/Shanghai | 00:00 | 2026-11-20 | 2026-11-19T16:00:00Z
a day that begins in the evening (L-35) | Europe/Paris | 18:00 | 2026-11-20 | 2026-11-20T17:00:00Z
half an hour from whole hours (L-35) | Asia/Kolkata | 06:30 | 2026-11-20 | 2026-11-20T01:00:00Z
in a gap (L-37) | America/New_York | 02:30 | 2026-03-08 | 2026-03-08T07:00:00Z
midnight in a gap (L-37) | America/Sao_Paulo | 00:00 | 2018-11-04 | 2018-11-04T03:00:00Z
midnight in a gap (L-37) | Africa/Cairo | 00:00 | 2024-04-26 | 2024-04-25T22:00:00Z
midnight in a gap (L-37) | Asia/Beirut | 00:00 | 2024-03-31 | 2024-03-30T22:00:00Z
the first of two midnights (L-38) | America/New_York | 01:30 | 2026-11-01 | 2026-11-01T05:30:00Z
reached after the overlap (L-38) | America/New_York | 02:00 | 2026-11-01 | 2026-11-01T07:00:00Z
clocks set back past the day start by a minute (L-39) | America/St_Johns | 00:00 | 2006-10-29 | 2006-10-29T02:30:00Z
clocks set back by half an hour (L-39) | Australia/Lord_Howe | 01:45 | 2026-04-05 | 2026-04-04T14:45:00Z
clocks set back by two hours (L-39) | Antarctica/Troll | 02:00 | 2026-10-25 | 2026-10-25T00:00:00Z
after a skipped date (L-39) | Pacific/Apia | 00:00 | 2011-12-31 | 2011-12-30T10:00:00Z
the remaining half of the hour (L-39) | Pacific/Apia | 12:00 | 2011-12-30 | 2011-12-30T10:00:00Z
after a skipped date (L-39) | Pacific/Kwajalein | 00:00 | 1993-08-22 | 1993-08-21T12:00:00Z
seconds of offset (L-39) | Africa/Monrovia | 00:00 | 1972-01-05 | 1972-01-05T00:44:30Z
L-42 | UTC | 00:00 | 2024-02-29 | 2024-02-29T00:00:00Z
before 1970 (L-42) | UTC | 00:00 | 1960-02-29 | 1960-02-29T00:00:00Z
`;

for (const row of STARTS.trim().split('\n')) {
  const [what, timeZone = '', dayStart, date = '', instant = ''] = row.split(' | ');
  void test(`${what}: ${date} at ${dayStart} in ${timeZone} begins at ${instant}, to the millisecond`, () => {
    const options = { timeZone, dayStart };
    assert.deepEqual(startOfBusinessDate(date, options), at(instant));
    assert.equal(businessDateAt(at(instant), options), date);
    assert.equal(businessDateAt(later(at(instant), 1), options), date);
    assert.ok(businessDateAt(later(at(instant), -1), options) < date);
  });
}

void test('a microsecond before the start belongs to the day before, because a Date drops microseconds (L-35)', () => {
  const startMs = at('2026-11-19T16:00:00Z').getTime();
  const options = { timeZone: 'Asia/Shanghai' };
  assert.equal(businessDateAt(new Date(startMs - 0.001), options), '2026-11-19');
  assert.equal(businessDateAt(new Date(startMs + 0.001), options), '2026-11-20');
});

void test('a date that a zone skipped has no start, and no instant belongs to it (L-39)', () => {
  for (const [timeZone, date] of [
    ['Pacific/Apia', '2011-12-30'],
    ['Pacific/Kwajalein', '1993-08-21'],
  ] as const) {
    assert.equal(startOfBusinessDate(date, { timeZone }), undefined);
    const noon = at(`${date}T12:00:00Z`);
    for (let hours = -48; hours <= 48; hours++)
      assert.notEqual(businessDateAt(later(noon, hours * 3_600_000), { timeZone }), date);
  }
});

const DAY_STARTS: [string, number][] = [
  ['00:00', 0],
  ['00:30', 30],
  ['01:30', 90],
  ['01:45', 105],
  ['02:00', 120],
  ['02:30', 150],
  ['03:00', 180],
  ['12:00', 720],
  ['23:59', 1439],
];

/** Unusual clock changes, each with the days around it. */
const CHANGES: [string, string][] = [
  ['L-37', 'America/New_York 2026-03-08'],
  ['L-37', 'America/Sao_Paulo 2018-11-04'],
  ['L-37', 'Africa/Cairo 2024-04-26'],
  ['L-37', 'Asia/Beirut 2024-03-31'],
  ['L-38', 'America/New_York 2026-11-01'],
  ['L-39', 'America/St_Johns 2006-04-02'],
  ['L-39', 'America/St_Johns 2006-10-29'],
  ['L-39', 'Australia/Lord_Howe 2026-04-05'],
  ['L-39', 'Australia/Lord_Howe 2026-10-04'],
  ['L-39', 'Antarctica/Troll 2026-03-29'],
  ['L-39', 'Antarctica/Troll 2026-10-25'],
  ['L-39', 'Pacific/Apia 2011-12-30'],
  ['L-39', 'Pacific/Kwajalein 1993-08-21'],
  ['L-39', 'Pacific/Kwajalein 1969-09-30'],
  ['L-39', 'Africa/Monrovia 1972-01-07'],
];

const HALF_MINUTE_MS = 30_000;
const DAY_MS = 86_400_000;
/** The scan reads the clock every half minute, and compares dates once every so many readings. */
const ASK_EVERY = sampleSize({ fast: 22, full: 2 });

for (const [id, change] of CHANGES) {
  const [timeZone = '', date = ''] = change.split(' ');
  void test(`${id} around ${change}, a scan of every half minute finds the same dates, for every day start`, () => {
    const clock = new WallClock(timeZone);
    const noonMs = at(`${date}T12:00:00Z`).getTime();
    let reachedMs = -Infinity;
    let passed = 0;
    for (let ms = noonMs - 4 * DAY_MS; ms <= noonMs + 2 * DAY_MS; ms += HALF_MINUTE_MS) {
      reachedMs = Math.max(reachedMs, clock.shownMs(ms));
      if (ms < noonMs - 2 * DAY_MS || passed++ % ASK_EVERY !== 0) continue;
      for (const [dayStart, minutes] of DAY_STARTS) {
        const expected = new Date(reachedMs - minutes * 60_000).toISOString().slice(0, 10);
        assert.equal(
          businessDateAt(new Date(ms), { timeZone, dayStart }),
          expected,
          new Date(ms).toISOString(),
        );
      }
    }
  });
}

void test('days have 23, 24 and 25 hours (L-40)', () => {
  const hoursOf = (date: string, next: string): number => {
    const [start, end] = [date, next].map((day) => startOfBusinessDate(day, { timeZone: 'Europe/Paris' }));
    assert.ok(start && end);
    return (end.getTime() - start.getTime()) / 3_600_000;
  };
  assert.equal(hoursOf('2026-03-29', '2026-03-30'), 23);
  assert.equal(hoursOf('2026-06-01', '2026-06-02'), 24);
  assert.equal(hoursOf('2026-10-25', '2026-10-26'), 25);
});

void test('the zone of the host is irrelevant (L-43)', () => {
  const before = process.env.TZ;
  try {
    for (const host of ['Pacific/Kiritimati', 'America/Los_Angeles', 'UTC']) {
      process.env.TZ = host;
      assert.equal(businessDateAt(at('2026-11-19T16:00:00Z'), { timeZone: 'Asia/Shanghai' }), '2026-11-20');
      const start = startOfBusinessDate('2026-03-08', { timeZone: 'America/New_York', dayStart: '02:30' });
      assert.deepEqual(start, at('2026-03-08T07:00:00Z'));
    }
  } finally {
    if (before === undefined) delete process.env.TZ;
    else process.env.TZ = before;
  }
});

void test('if a deploy changes the zone or the day start at noon, a date can be left out or repeated, but never invented (L-44)', () => {
  const noon = at('2026-11-20T04:00:00Z');
  assert.equal(businessDateAt(noon, { timeZone: 'Asia/Shanghai' }), '2026-11-20');
  assert.equal(businessDateAt(noon, { timeZone: 'Asia/Shanghai', dayStart: '06:00' }), '2026-11-20');
  assert.equal(businessDateAt(noon, { timeZone: 'Asia/Shanghai', dayStart: '13:00' }), '2026-11-19');
  assert.equal(businessDateAt(noon, { timeZone: 'America/New_York' }), '2026-11-19');
});
