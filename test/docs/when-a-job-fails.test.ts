import assert from 'node:assert/strict';
import { test } from 'node:test';
import { configureJobGuard, LockStorageError, SchedulerLock, type JobGuard } from 'cronlatch';
import { Scheduled, scheduleJobs, scheduleLocked } from 'cronlatch/node-cron';
import { guardBench } from '../support/benches/guard';
import { JOB } from '../support/benches/lock';
import { tableOf } from '../support/checks/page';
import { refusedConnection } from '../support/faults/accessor';

const ROWS = new Map(
  tableOf('docs/reliability.md', 'who calls the job').map(([caller = '', ...cells]) => [caller, cells]),
);
const NEVER = '0 0 1 1 *';
const mine = new Error('mine');

type Call = (guard: JobGuard, task: () => void) => Promise<unknown>;

function decorated(task: () => void) {
  class Jobs {
    @Scheduled(NEVER)
    @SchedulerLock('job', '10m')
    async job(): Promise<void> {
      await Promise.resolve();
      task();
    }
  }
  return new Jobs();
}

const CALLS: Record<string, Call> = {
  async 'you: a decorated method'(guard, task) {
    configureJobGuard(guard, { replace: true });
    await decorated(task).job();
  },
  'you: `guard.run`': (guard, task) => guard.run(JOB, task),
  'a scheduler: `guard.wrap`': (guard, task) => guard.wrap(JOB, task)(),
  "a scheduler: `guard.wrap`, `onError: 'throw'`": (guard, task) =>
    guard.wrap(JOB, task, { onError: 'throw' })(),
  async 'node-cron: `scheduleJobs`'(guard, task) {
    return (await scheduleJobs(decorated(task), { guard })[0]?.execute()) as unknown;
  },
  async 'node-cron: `scheduleLocked`'(guard, task) {
    return (await scheduleLocked(NEVER, JOB, task, { guard }).execute()) as unknown;
  },
};

/** The tests of these integrations are beside those of Nest and node-cron. */
const ELSEWHERE = [
  'node-cron: `scheduleDistributed`',
  'Nest: `@Cron`',
  'Nest: `@Interval`, `@Timeout`',
  ...['_reported as_', '_outcome of `tick`_', '_level of the line_'],
];

/** As the page describes it. */
async function describe(call: Promise<unknown>): Promise<string> {
  try {
    const value = await call;
    if (value === undefined) return '`undefined`';
    assert.deepEqual(value, { executed: false, reason: 'locked' });
    return "`{ executed: false, reason: 'locked' }`";
  } catch (error) {
    if (error === mine) return 'rejects with its error';
    assert.ok(error instanceof LockStorageError);
    return 'rejects with `LockStorageError`';
  }
}

/** What happens to one call, and the events, the outcomes of the tick and the levels of the lines that report it. */
async function outcomeOf(call: Call, failure: 'throws' | 'held' | 'down') {
  const reports: Record<'event' | 'outcome' | 'level', string[]> = { event: [], outcome: [], level: [] };
  const line = (level: string) => (text: string) => {
    // The start of the run and the end of the bench report no failure.
    if (!/^cronlatch \S+ (run:started|closing|closed)/.test(text)) reports.level.push(level);
  };
  const logger = { error: line('error'), warn: line('warn'), info: line('info'), debug: line('debug') };
  const { guard, accessor, other } = guardBench({ logger });
  for (const name of ['run:failed', 'lock:skipped', 'lock:failed'] as const)
    guard.on(name, () => void reports.event.push(name));
  guard.on('tick', ({ outcome }) => void reports.outcome.push(outcome));
  if (failure === 'held') await other.lock(JOB);
  if (failure === 'down')
    accessor.fail('updateRecord', ...Array<typeof refusedConnection>(5).fill(refusedConnection));
  const task = (): void => {
    if (failure === 'throws') throw mine;
    assert.fail('ran');
  };
  const described = await describe(call(guard, task));
  configureJobGuard(undefined);
  await guard.close();
  return { described, reports };
}

for (const [caller, call] of Object.entries(CALLS)) {
  void test(`the page has what happens when a job fails that is called by ${caller}`, async () => {
    for (const [column, failure] of (['throws', 'held', 'down'] as const).entries()) {
      const { described, reports } = await outcomeOf(call, failure);
      const cell = (row: string): string | undefined => ROWS.get(row)?.[column]?.replaceAll('`', '');
      assert.equal(described, ROWS.get(caller)?.[column]);
      assert.deepEqual(reports, {
        event: [cell('_reported as_')],
        outcome: [cell('_outcome of `tick`_')],
        level: [cell('_level of the line_')],
      });
    }
  });
}

void test('the table has no other rows', () => {
  assert.deepEqual([...ROWS.keys()].sort(), [...Object.keys(CALLS), ...ELSEWHERE].sort());
});
