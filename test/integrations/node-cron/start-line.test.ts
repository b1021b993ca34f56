/** What a guard logs once its first jobs are scheduled. */
import assert from 'node:assert/strict';
import { hostname } from 'node:os';
import { afterEach, beforeEach, mock, test } from 'node:test';
import {
  JobGuard,
  SchedulerLock,
  structured,
  type CronlatchEvents,
  type JobConfiguration,
  type JobGuardOptions,
} from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { turn } from '../../support/benches/lock';

const SELF = `${hostname()}/${process.pid}`;
let guard: JobGuard | undefined;

beforeEach(() => {
  const now = Date.parse('2026-11-20T00:00:00.500Z');
  mock.timers.enable({ apis: ['Date', 'setTimeout', 'setInterval'], now });
});

afterEach(async () => {
  await guard?.close();
  mock.timers.reset();
});

function guardWith(options: Partial<JobGuardOptions> = {}): { guard: JobGuard; lines: string[] } {
  const lines: string[] = [];
  const add = (line: string): void => void lines.push(line);
  const logger = { error: add, warn: add, info: add };
  guard = new JobGuard({ lockProvider: new InMemoryLockProvider(), logger, ...options });
  return { guard, lines };
}

const lock = (name: string, more: Partial<JobConfiguration> = {}): JobConfiguration => ({
  name,
  lockAtMostFor: '1m',
  lockAtLeastFor: '1s',
  ...more,
});

class Jobs {
  @Scheduled('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('close-day', '1m', '1s')
  async closeDay(): Promise<void> {}

  @Scheduled('0 3 1 12 *', { timeZone: 'Asia/Tokyo' })
  @SchedulerLock('close-month', '1m', '1s')
  async closeMonth(): Promise<void> {}
}

void test('one line has the process, the number of jobs and the next ones, the earliest first', async () => {
  const { guard, lines } = guardWith();
  scheduleJobs(new Jobs(), { guard });
  scheduleLocked('*/5 * * * * *', lock('send-reminders'), () => {}, { guard });
  assert.deepEqual(lines, [], 'not before all jobs of this turn are known');
  await turn();
  assert.deepEqual(lines, [
    `cronlatch ${SELF} guards 3 jobs: send-reminders in 4 s, close-day at 03:00 Europe/Paris, close-month on 2026-12-01 at 03:00 Asia/Tokyo.`,
  ]);
  scheduleLocked('*/5 * * * * *', lock('too-late'), () => {}, { guard });
  await turn();
  assert.equal(lines.length, 1, 'once per guard');
});

void test('three jobs are named, and those that are disabled or have no known time come last', async () => {
  const { guard, lines } = guardWith();
  guard.wrap(lock('import'), () => {});
  scheduleLocked('0 0 * * *', lock('off', { enabled: false }), () => {}, { guard, timeZone: 'UTC' });
  scheduleLocked('*/10 * * * *', lock('first'), () => {}, { guard });
  await turn();
  assert.deepEqual(lines, [`cronlatch ${SELF} guards 3 jobs: first in 9 min, import, off (disabled).`]);
});

void test('more than three jobs are counted', async () => {
  const { guard, lines } = guardWith();
  for (const minute of [1, 2, 3, 4, 5])
    scheduleLocked(`${minute} * * * *`, lock(`job-${minute}`), () => {}, { guard });
  await turn();
  const named = 'job-1 in 59 s, job-2 in 1 min, job-3 in 2 min';
  assert.deepEqual(lines, [`cronlatch ${SELF} guards 5 jobs: ${named}, and 2 more.`]);
});

void test('a structured logger gets the jobs as a field, and logger: false nothing', async () => {
  const entries: unknown[] = [];
  const info = (fields: object, message: string): void => void entries.push({ ...fields, message });
  const logger = structured({ error: assert.fail, warn: assert.fail, info, debug: () => {} });
  const { guard } = guardWith({ logger });
  const started: CronlatchEvents['guard:started'][] = [];
  guard.on('guard:started', (event) => void started.push(event));
  scheduleLocked('0 * * * *', lock('hourly'), () => {}, { guard });
  await turn();
  const jobs = [{ job: 'hourly', nextScheduledAt: new Date('2026-11-20T01:00:00Z') }];
  const message = `${SELF} guards 1 job: hourly in 59 min`;
  assert.deepEqual(entries, [{ event: 'guard:started', instance: SELF, jobs, message }]);
  assert.deepEqual(started, [{ message, database: undefined, jobs }]);

  const written = mock.method(console, 'info', () => {});
  const silent = guardWith({ logger: false });
  scheduleLocked('0 * * * *', lock('hourly'), () => {}, { guard: silent.guard });
  await turn();
  assert.equal(written.mock.callCount(), 0);
  written.mock.restore();
});

void test('a guard without jobs, and one that closes at once, announce nothing', async () => {
  const { guard, lines } = guardWith();
  await guard.run(lock('once'), () => {});
  scheduleLocked('0 * * * *', lock('hourly'), () => {}, { guard });
  const closed = guard.close();
  await turn();
  await closed;
  assert.deepEqual(
    lines.filter((line) => !line.includes('run:completed')),
    [],
  );
});
