import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { schedule } from 'node-cron';
import { Schedule } from '#cronlatch/ledger/periods/schedule';
import { turn } from '../../support/benches/lock';

const ZONE = 'Europe/Paris';
const STEP_MS = 300_000;

/** The times of an expression between two instants: those of `Schedule`, and those at which node-cron fires. */
async function timesBetween(expression: string, from: string, to: string) {
  const expected = Schedule.of([{ expression, timeZone: ZONE, dialect: 'node-cron' }])
    ?.following(new Date(from), 20)
    .filter((time) => time < new Date(to));
  const fired: Date[] = [];
  mock.timers.enable({ apis: ['setTimeout', 'Date'], now: new Date(from) });
  const task = schedule(expression, ({ date }) => void fired.push(date), { timezone: ZONE });
  while (Date.now() < Date.parse(to)) {
    mock.timers.tick(STEP_MS);
    for (let i = 0; i < 10; i += 1) await turn();
  }
  await task.destroy();
  mock.timers.reset();
  const short = (times: readonly Date[] = []) =>
    times.map((time) => time.toISOString().slice(11, 16)).join(' ');
  return [short(expected), short(fired)];
}

/** As the page Schedules lists them, in UTC. */
const CASES = [
  ['15 * * * *', '2027-10-30T23:50Z', '2027-10-31T03:00Z', '00:15 01:15 02:15', '01:15 02:15'],
  ['30 2 * * *', '2027-10-30T23:50Z', '2027-10-31T03:00Z', '00:30', '01:30'],
  [
    '*/20 2 * * *',
    '2027-10-30T23:50Z',
    '2027-10-31T03:00Z',
    '00:00 00:20 00:40 01:00 01:20 01:40',
    '01:00 01:20 01:40',
  ],
  ['0 2,3 * * *', '2027-10-30T23:50Z', '2027-10-31T03:00Z', '00:00 01:00 02:00', '01:00 02:00'],
  ['15 * * * *', '2027-03-27T23:50Z', '2027-03-28T03:00Z', '00:15 01:15 02:15', '00:15 01:15 02:15'],
  ['30 2 * * *', '2027-03-27T23:50Z', '2027-03-28T03:00Z', '01:00', ''],
  ['*/20 2 * * *', '2027-03-27T23:50Z', '2027-03-28T03:00Z', '01:00', ''],
  ['0 2,3 * * *', '2027-03-27T23:50Z', '2027-03-28T03:00Z', '01:00', '01:00'],
] as const;

for (const [expression, from, to, expected, fired] of CASES)
  void test(`'${expression}' at the change of ${from.slice(0, 7)}: what is expected, and what node-cron fires`, async () => {
    assert.deepEqual(await timesBetween(expression, from, to), [expected, fired]);
  });
