import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentRun, InvalidLockConfigurationError, type CronlatchEvents } from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import { guardBench, reasonOf } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';
import { ledgerPlace, memoryStores } from '../support/stores/ledger-place';

const CLOSE_DAY = {
  name: 'close-day',
  lockAtMostFor: '1m',
  oncePer: { period: 'day', timeZone: 'Europe/Paris' },
} as const;

/** A guard, and the events that it emits under one name. */
function listening<K extends EventName>(name: K) {
  const { guard } = guardBench();
  const received: CronlatchEvents[K][] = [];
  guard.on(name, (event) => received.push(event));
  return { guard, received };
}

void test('the scheduled time is read from the arguments, and is in the run’s events', async () => {
  const { guard, received } = listening('run:started');
  const tick = guard.wrap(JOB, () => 'ran', { scheduledAt: (fireDate: Date) => fireDate });
  const fireDate = new Date('2026-11-20T22:59:00Z');
  assert.equal(await tick(fireDate), 'ran');
  assert.deepEqual(
    received.map(({ scheduledAt }) => scheduledAt),
    [fireDate],
  );
});

void test('the handler may take the arguments as well, or none of them', async () => {
  const { guard } = listening('run:started');
  const scheduledAt = (ms: number): Date => new Date(ms);
  assert.equal(await guard.wrap(JOB, (ms: number) => ms, { scheduledAt })(5), 5);
  assert.equal(await guard.wrap(JOB, () => 'none', { scheduledAt })(5), 'none');
});

void test('without a scheduled time, the events have none', async () => {
  const { guard, received } = listening('run:started');
  await guard.wrap(JOB, () => 'ran', { scheduledAt: () => undefined })();
  assert.deepEqual(
    received.map(({ scheduledAt }) => scheduledAt),
    [undefined],
  );
});

void test('a tick that comes after midnight counts for the day for which it was scheduled', async () => {
  // Seven minutes past midnight in Paris.
  const { place, close } = ledgerPlace(memoryStores('2026-11-20T23:07:00Z'));
  try {
    const { guard } = place.instance();
    const days: string[] = [];
    const closeDay = (): void => void days.push(currentRun().businessDate);
    const tick = guard.wrap(CLOSE_DAY, closeDay, { scheduledAt: (fireDate: Date) => fireDate });
    await tick(new Date('2026-11-20T22:59:00Z'));
    await tick(new Date('2026-11-20T23:05:00Z'));
    assert.deepEqual(days, ['2026-11-20', '2026-11-21']);
  } finally {
    await close();
  }
});

/** Invalid values, and the messages about them. */
const REFUSED: readonly [string, () => unknown, RegExp][] = [
  ['no date', () => '2026-11-20', /returned "2026-11-20"/],
  ['an invalid date', () => new Date('soon'), /returned Invalid Date/],
  ['null', () => null, /returned null/],
  ['a function that throws', () => assert.fail('by mistake'), /threw/],
];

for (const [what, scheduledAt, message] of REFUSED) {
  void test(`a job whose scheduled time is ${what} does not run, and an event reports it`, async () => {
    const { guard, received } = listening('lock:failed');
    const asDate = scheduledAt as () => Date;
    const never = (): void => assert.fail('ran');
    assert.equal(await guard.wrap(JOB, never, { scheduledAt: asDate })(), undefined);
    assert.match(String(received[0]?.error), message);

    const wrapped = guard.wrap(JOB, never, { scheduledAt: asDate, onError: 'throw' });
    assert.ok((await reasonOf(wrapped())) instanceof InvalidLockConfigurationError);
    assert.equal(received.length, 2);
  });
}
