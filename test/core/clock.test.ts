import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from 'cronlatch/provider';
import { hostTimeZone, pause, withinLimit } from '#cronlatch/core/clock';
import { SettableClock } from 'cronlatch/testing';

const DAY_MS = 86_400_000;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

void test('a delay longer than a Node timer can hold does not fire at once (F-19)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  let fired = 0;
  systemClock.schedule(60 * DAY_MS, () => (fired += 1), { keepAlive: false });
  t.mock.timers.tick(LONGEST_TIMER_MS);
  t.mock.timers.tick(LONGEST_TIMER_MS);
  t.mock.timers.tick(60 * DAY_MS - 2 * LONGEST_TIMER_MS - 1);
  assert.equal(fired, 0);
  t.mock.timers.tick(1);
  assert.equal(fired, 1);
});

void test('a long delay can be cancelled in each of its parts (F-19)', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const cancel = systemClock.schedule(60 * DAY_MS, () => assert.fail('fired'), { keepAlive: false });
  t.mock.timers.tick(LONGEST_TIMER_MS);
  cancel();
  t.mock.timers.tick(60 * DAY_MS);
});

void test("the system clock returns the host's wall time and a monotonic time", async () => {
  const before = systemClock.monotonicMs();
  assert.ok(Math.abs(systemClock.wallMs() - Date.now()) < 1000);
  await pause(systemClock, 1);
  assert.ok(systemClock.monotonicMs() > before);
});

void test('within the limit the value counts, after it the timeout counts, and an error is rethrown', async () => {
  const clock = new SettableClock();
  assert.equal(await withinLimit(clock, Promise.resolve('value'), 10), 'value');
  await assert.rejects(withinLimit(clock, Promise.reject(new Error('mine')), 10), { message: 'mine' });
  const late = withinLimit(clock, new Promise(() => {}), 10);
  clock.advance(10);
  assert.equal(await late, 'time-out');
  assert.equal(clock.pendingTimers, 0);
});

for (const [TZ, zone] of [
  ['Europe/Paris', 'Europe/Paris'],
  ['UTC+5', 'Etc/GMT+5'],
  ['UTC-14', 'Etc/GMT-14'],
  ['UTC+13', 'UTC'],
  ['Nowhere/City', 'UTC'],
] as const)
  void test(`the time zone of a host with TZ=${TZ} is ${zone}`, () => {
    const { TZ: before } = process.env;
    process.env['TZ'] = TZ;
    try {
      assert.equal(hostTimeZone(), zone);
      assert.doesNotThrow(() => new Intl.DateTimeFormat('en', { timeZone: hostTimeZone() }));
    } finally {
      if (before === undefined) delete process.env['TZ'];
      else process.env['TZ'] = before;
    }
  });
