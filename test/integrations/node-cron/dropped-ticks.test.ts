import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { currentRun, OncePerDay, SchedulerLock, type CronlatchEvents } from 'cronlatch';
import { systemClock } from 'cronlatch/provider';
import { Scheduled, scheduleDistributed, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { setLogger } from 'node-cron';
import { guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { beginAt, pass } from '../../support/clocks/mocked-ticks';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';

/** The guard and its store use the time that the test sets. */
const clock = { ...systemClock, monotonicMs: () => Date.now() };
const complaints: string[] = [];
const lines: string[] = [];
const failed: CronlatchEvents['lock:failed'][] = [];
const ran: string[] = [];
let guard: GuardOfRuns['guard'];

beforeEach(() => {
  beginAt('2026-11-20T02:59:59Z');
  const complain = (message: string | Error): void => void complaints.push(String(message));
  setLogger({ info: complain, debug: complain, warn: complain, error: complain });
  const log = (line: string): void => void lines.push(line);
  const runStore = new InMemoryRunStore({ clock });
  guard = guardOfRuns({ runStore, clock, logger: { warn: log, error: log } }).guard;
  guard.on('lock:failed', (event) => void failed.push(event));
});
afterEach(async () => {
  await guard.close();
  mock.timers.reset();
  for (const each of [complaints, lines, failed, ran]) each.length = 0;
});

/** The event loop is blocked when the tick is due, for longer than node-cron tolerates. */
const standStill = (minutes: number): Promise<void> => pass(minutes * 60_000);

const failures = (): unknown[] =>
  failed.map(({ name, scheduledAt, willRetry }) => [name, scheduledAt?.toISOString(), willRetry]);

const note = (): void => {
  const { periodKey, scheduledAt } = currentRun();
  ran.push(`${periodKey} ${scheduledAt?.toISOString()}`);
};

class Jobs {
  @Scheduled('0 3 * * *', { timeZone: 'UTC' })
  @OncePerDay()
  @SchedulerLock('close-day', '1m')
  async closeDay(): Promise<void> {
    await Promise.resolve(note());
  }
}

void test('a tick of a once-per method that node-cron drops is kept, and runs for its scheduled time (F-92)', async () => {
  scheduleJobs(new Jobs(), { guard });
  await standStill(5);
  assert.deepEqual([failures(), ran], [[['close-day', '2026-11-20T03:00:00.000Z', true]], []]);
  assert.match(
    lines.join(),
    /^cronlatch \S+ lock:failed: job 'close-day' did not run .*; the tick will be retried\. Cause: .*node-cron dropped/,
  );
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(ran, ['2026-11-20 2026-11-20T03:00:00.000Z']);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(complaints, []);
});

for (const [what, startDeadline, expected] of [
  ['of a once-per function is kept as well', undefined, ['completed', undefined]],
  ['does not run after the start deadline of its job', '2m', ['skipped', 'deadline']],
  ['runs until that deadline, which counts from its scheduled time', '10m', ['completed', undefined]],
] as const)
  void test(`a dropped tick ${what}`, async () => {
    const job = {
      name: 'close-day',
      lockAtMostFor: '1m',
      oncePer: { period: 'day', startDeadline },
    } as const;
    scheduleLocked('0 3 * * *', job, note, { guard, timeZone: 'UTC' });
    await standStill(5);
    assert.deepEqual(failures(), [['close-day', '2026-11-20T03:00:00.000Z', true]]);
    await guard.runOverdue();
    const run = await guard.ledger.get({ job: 'close-day', periodKey: '2026-11-20' });
    assert.deepEqual([run?.state, run?.reason], expected);
    const hasRun = run?.state === 'completed';
    assert.deepEqual(ran, hasRun ? ['2026-11-20 2026-11-20T03:00:00.000Z'] : []);
  });

void test('a dropped tick of a job that only has a lock is reported as lost', async () => {
  scheduleLocked('0 3 * * *', { name: 'report', lockAtMostFor: '1m' }, note, { guard, timeZone: 'UTC' });
  await standStill(5);
  assert.deepEqual(failures(), [['report', '2026-11-20T03:00:00.000Z', false]]);
  assert.match(
    lines.join(),
    /^cronlatch \S+ lock:failed: job 'report' did not run \(.*\)\. Cause: .*node-cron dropped/,
  );
});

void test('a dropped tick of a distributed task is retried', async () => {
  scheduleDistributed('0 3 * * *', note, { guard, name: 'settle', timeZone: 'UTC' });
  await standStill(5);
  assert.deepEqual(failures(), [['settle', '2026-11-20T03:00:00.000Z', true]]);
  await guard.runOverdue();
  const run = await guard.ledger.get({ job: 'settle', periodKey: '2026-11-20T03:00:00.000Z' });
  assert.deepEqual([run?.state, ran.length], ['completed', 1]);
});

void test('ticks dropped in one stall are reported in one event', async () => {
  scheduleLocked('* * * * *', { name: 'report', lockAtMostFor: '1m' }, note, { guard, timeZone: 'UTC' });
  await standStill(5.5);
  assert.deepEqual(failures(), [['report', '2026-11-20T03:00:00.000Z', false]]);
  assert.match(lines.join(), /node-cron dropped 6 ticks/);
});
