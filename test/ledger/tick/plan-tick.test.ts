import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OncePerConfiguration, SkipReason } from 'cronlatch';
import { EventHub } from 'cronlatch/provider';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';
import { parseJobPolicy } from '#cronlatch/ledger/policy/job-policy';
import type { LedgerSnapshot } from '#cronlatch/ledger/tick/ledger-snapshot';
import { findCaughtUpPeriod, hasWork, planTick } from '#cronlatch/ledger/tick/plan-tick';
import { periodAt } from '#cronlatch/ledger/periods/period';
import type { RunSummary } from '#cronlatch/ledger/run';
import { closeDay } from '../../support/jobs/close-day';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';

const NOW = new Date('2026-11-20T03:00:00Z');
const minutes = (count: number): Date => new Date(NOW.getTime() + count * 60_000);

interface Situation {
  readonly purpose?: 'tick' | 'retry' | 'overdue';
  readonly oncePer?: Partial<OncePerConfiguration>;
  readonly at?: Date;
  /** It decides the period. */
  readonly instant?: Date;
  readonly scheduledAt?: Date;
  /** The rows of the period and of others, by key. */
  readonly runs?: Readonly<Record<string, Partial<RunSummary>>>;
  readonly first?: string;
}

async function planned(situation: Situation) {
  const { purpose = 'tick', oncePer = {}, at, instant = NOW, scheduledAt, runs = {}, first } = situation;
  const policy = parseJobPolicy(closeDay({ timeZone: 'UTC', ...oncePer }).oncePer, 'close-day');
  const period = periodAt(instant, policy.period);
  const rows = Object.entries(runs).map(([key, run]) => summary(key, run));
  const snapshot: LedgerSnapshot = {
    ...{ now: NOW, instant, scheduledAt, period, warnings: [] },
    run: rows.find(({ periodKey }) => periodKey === period.key),
    recorded: { now: NOW, runs: rows, firstPeriodStart: first === undefined ? undefined : new Date(first) },
  };
  const request = { policy, purpose, at, scope: '', expectation: {} };
  const context = {
    ...{ store: new InMemoryRunStore(), clock: new SettableClock(NOW), events: new EventHub() },
    ...{ lockProvider: new InMemoryLockProvider(), random: () => 0.5 },
    ...{ statementTimeoutMs: 1000, instance: 'host/1' },
  };
  const plan = await planTick(context, request, snapshot);
  return { ...plan, hasWork: hasWork(plan), caughtUpPeriod: findCaughtUpPeriod(request, snapshot, plan) };
}

function summary(periodKey: string, run: Partial<RunSummary>): RunSummary {
  const none = { claimedBy: undefined, lockId: undefined, fencingToken: undefined, leaseUntil: undefined };
  return {
    ...{ job: 'close-day', scope: '', periodKey, state: 'pending', generation: 0, attempt: 1, ...none },
    ...{ periodStart: new Date(periodKey), periodEnd: undefined, timeZone: 'UTC', nextAttemptAt: undefined },
    ...{ firstStartedAt: undefined, startedAt: undefined, finishedAt: undefined, reason: undefined },
    ...{ createdAt: NOW, updatedAt: NOW },
    ...run,
  };
}

const TODAY = '2026-11-20';

/** The row of today, and what a tick that finds it does, or why it is refused. */
const ROWS: readonly [Partial<RunSummary>, 'run' | SkipReason][] = [
  [{ state: 'completed' }, 'already-completed'],
  [{ state: 'interrupted' }, 'interrupted'],
  [{ state: 'skipped' }, 'skipped'],
  [{ state: 'failed' }, 'exhausted'],
  [{ state: 'failed', nextAttemptAt: minutes(1) }, 'not-due'],
  [{ state: 'pending', nextAttemptAt: minutes(1) }, 'not-due'],
  [{ state: 'failed', nextAttemptAt: NOW }, 'run'],
  [{ state: 'pending', nextAttemptAt: minutes(-1) }, 'run'],
  // The lock shows whether its holder has crashed.
  [{ state: 'running' }, 'run'],
];

for (const [run, plan] of ROWS)
  void test(`a tick that finds ${JSON.stringify(run)} is planned as ${plan}`, async () => {
    for (const purpose of ['tick', 'retry'] as const) {
      const { own, hasWork } = await planned({ purpose, runs: { [TODAY]: run } });
      const runs = plan === 'run';
      assert.deepEqual(own, runs ? { kind: 'run', isNew: false } : { kind: 'refused', reason: plan });
      assert.equal(hasWork, runs);
    }
  });

void test('a period without a row is new', async () => {
  assert.deepEqual((await planned({})).own, { kind: 'run', isNew: true });
});

void test('a search for overdue runs starts no period of its own, but the current period may be overdue', async () => {
  const idle = await planned({ purpose: 'overdue' });
  assert.deepEqual([idle.own, idle.overdue, idle.hasWork], [{ kind: 'none' }, [], false]);
  const due = await planned({ purpose: 'overdue', runs: { [TODAY]: { state: 'running' } } });
  assert.deepEqual([due.overdue.map(({ periodKey }) => periodKey), due.hasWork], [[TODAY], true]);
  const later = await planned({
    purpose: 'overdue',
    runs: { [TODAY]: { state: 'failed', nextAttemptAt: minutes(1) } },
  });
  assert.equal(later.hasWork, false);
});

void test('without a row, and after the deadline, the skip is recorded (L-33)', async () => {
  const { own, hasWork } = await planned({ oncePer: { startDeadline: '2h' } });
  assert.deepEqual([own, hasWork], [{ kind: 'skip', reason: 'deadline' }, true]);
  const inTime = await planned({ oncePer: { startDeadline: '2h' }, scheduledAt: minutes(-120) });
  assert.deepEqual(inTime.own, { kind: 'run', isNew: true });
  const late = await planned({ oncePer: { startDeadline: '2h' }, scheduledAt: minutes(-121) });
  assert.deepEqual(late.own, { kind: 'skip', reason: 'deadline' });
});

void test('a holiday takes precedence over a deadline, and a row over both (L-34)', async () => {
  const calendar = { isBusinessDay: () => false };
  const oncePer = { calendar, startDeadline: '2h' };
  assert.deepEqual((await planned({ oncePer })).own, { kind: 'skip', reason: 'calendar' });
  const due = { [TODAY]: { state: 'failed', nextAttemptAt: NOW } } as const;
  assert.deepEqual((await planned({ oncePer, runs: due })).own, { kind: 'run', isNew: false });
});

void test('an unanswered tick is retried until the period in which it came has ended, even if it counts for another', async () => {
  const yesterday = new Date('2026-11-19T23:59:59Z');
  const again = { purpose: 'retry', instant: yesterday } as const;
  assert.deepEqual((await planned(again)).own, { kind: 'expired' });
  assert.deepEqual((await planned({ ...again, instant: NOW })).own, { kind: 'run', isNew: true });
  const previous = { target: 'previous' } as const;
  assert.equal((await planned({ purpose: 'retry', oncePer: previous })).own.kind, 'run');
  assert.equal((await planned({ ...again, oncePer: previous })).own.kind, 'expired');
  // A first tick is never too late for its own day.
  assert.equal((await planned({ instant: yesterday })).own.kind, 'run');
});

void test('an unanswered tick with a custom period key is retried until the key changes', async () => {
  const period = (at: Date): string => `batch-${at.getUTCHours()}`;
  const again = { purpose: 'retry', oncePer: { period } } as const;
  assert.equal((await planned({ ...again, instant: minutes(30) })).own.kind, 'run');
  assert.equal((await planned({ ...again, instant: minutes(-1) })).own.kind, 'expired');
});

void test('with catch-up of all ticks of a key function, an unanswered tick is retried until it is older than the window', async () => {
  const period = (at: Date): string => at.toISOString();
  const oncePer = { period, catchUp: 'all', catchUpWindow: '1h' } as const;
  const again = { purpose: 'retry', oncePer } as const;
  const plan = await planned({ ...again, instant: minutes(-60) });
  assert.deepEqual([plan.own, plan.catchUp, plan.missed], [{ kind: 'run', isNew: true }, [], []]);
  assert.equal((await planned({ ...again, instant: minutes(-61) })).own.kind, 'expired');
});

const MISSED = { oncePer: { catchUp: 'all' }, first: '2026-11-17T00:00:00Z' } as const;

void test('a tick also runs missed periods, unless it selects its instant (L-46)', async () => {
  const plan = await planned(MISSED);
  assert.deepEqual(
    plan.catchUp.map(({ key }) => key),
    ['2026-11-18', '2026-11-19'],
  );
  assert.equal(plan.caughtUpPeriod, undefined);
  const named = await planned({ ...MISSED, at: NOW, runs: { '2026-11-16': { state: 'running' } } });
  assert.deepEqual([named.catchUp, named.overdue, named.caughtUpPeriod], [[], [], undefined]);
});

void test('the period counts as caught up if nothing is missed and the calendar has answered (L-46)', async () => {
  const runs = { '2026-11-18': { state: 'completed' }, '2026-11-19': { state: 'skipped' } } as const;
  assert.equal((await planned({ ...MISSED, runs })).caughtUpPeriod, TODAY);
  const calendar = { isBusinessDay: (date: string) => Promise.reject<boolean>(new Error(date)) };
  const failing = await planned({ ...MISSED, oncePer: { catchUp: 'all', calendar } });
  assert.deepEqual([failing.failures.length, failing.caughtUpPeriod], [3, undefined]);
  assert.equal((await planned({ first: '2026-11-17T00:00:00Z' })).caughtUpPeriod, undefined);
});
