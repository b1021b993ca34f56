import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { diag, DiagLogLevel } from '@opentelemetry/api';
import Database from 'better-sqlite3';
import { LockStorageError } from 'cronlatch';
import { createJobGuard, createTables } from 'cronlatch/better-sqlite3';
import { scheduleLocked } from 'cronlatch/node-cron';
import { instrumentGuard } from 'cronlatch/observability';
import type { DeclaredJob } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';
import { metricsBench } from '../support/benches/metrics';
import { eventually } from '../support/clocks/eventually';
import { FaultyRunStore } from '../support/faults/run-store';
import type { JobRegistration } from '#cronlatch/ledger/job-register';

/** A job as an instance registers it. */
function registration(
  job: string,
  schedules: DeclaredJob['schedules'],
  kind: 'lock' | 'custom' = 'custom',
): JobRegistration {
  const declared: DeclaredJob = {
    ...{ lock: job, lockAtMostForMs: 600_000, lockAtLeastForMs: 0 },
    kind,
    ...{ schedules, hasCalendar: false, hasScopeFunction: false },
  };
  return { job, declared, version: '0.1.0', registeredBy: 'host/1' };
}

/** An instrumented guard on stores in memory. */
function bench(
  runs: Parameters<typeof guardOfRuns>[0] = {},
  options: Parameters<typeof instrumentGuard>[1] = {},
) {
  const { meterProvider, read } = metricsBench();
  const bench = guardOfRuns(runs);
  instrumentGuard(bench.guard, { meterProvider, ...options });
  return { ...bench, read };
}

/** A run store whose statements can fail. */
const faultyRuns = (): FaultyRunStore => new FaultyRunStore(guardOfRuns().runStore);

void test('the last completion is read from the ledger for each registered once-per job, also if another instance ran it', async () => {
  const { guard, clock, runStore, read } = bench();
  const elsewhere = guardOfRuns({ runStore, clock }).guard;
  for (const name of ['close-day', 'never-run']) guard.wrap({ ...DAILY, name }, () => {});
  const scoped = { scope: (region: string) => region, resume: () => [] };
  guard.wrap({ ...DAILY, name: 'by-region', oncePer: { ...DAILY.oncePer, ...scoped } }, () => {});
  await elsewhere.run(DAILY, () => void clock.advance('2m'));
  const region = { ...DAILY, name: 'by-region', oncePer: { ...DAILY.oncePer, scope: 'eu' } } as const;
  await elsewhere.run(region, () => void clock.advance('1m'));
  assert.deepEqual((await read())['cronlatch.run.last_completed'], {
    'cronlatch.job=close-day': Date.parse('2026-11-20T03:02:00Z') / 1000,
    'cronlatch.job=by-region': Date.parse('2026-11-20T03:03:00Z') / 1000,
  });
});

void test('a job is late from its scheduled time plus the tolerance, until it is answered', async () => {
  const { clock, runStore, read } = bench({}, { lateAfter: '10m' });
  const scheduledAt = new Date('2026-11-20T04:00:00Z');
  await runStore.registerJobs([
    registration('nightly', [{ at: scheduledAt.toISOString() }]),
    registration('by-hand', []),
    registration('only-a-lock', [{ at: scheduledAt.toISOString() }], 'lock'),
  ]);
  const late = async () => (await read())['cronlatch.job.late'];
  const none = { 'cronlatch.job=by-hand': 0 };
  clock.advance(scheduledAt.getTime() + 600_000 - 1 - clock.wallMs());
  assert.deepEqual(await late(), { ...none, 'cronlatch.job=nightly': 0, 'cronlatch.job=only-a-lock': 0 });
  clock.advance(1);
  assert.deepEqual(await late(), { ...none, 'cronlatch.job=nightly': 1, 'cronlatch.job=only-a-lock': 1 });
  await runStore.answerJobs([{ job: 'nightly', answeredAt: scheduledAt }]);
  assert.deepEqual(await late(), { ...none, 'cronlatch.job=nightly': 0, 'cronlatch.job=only-a-lock': 1 });
});

void test('a job that its schedule should have started is late in SQLite, too', async (t) => {
  const database = new Database(':memory:');
  await createTables(database);
  const { meterProvider, read } = metricsBench();
  const guard = await createJobGuard(database, { logger: false, pollInterval: false });
  const task = scheduleLocked('0 3 1 1 *', DAILY, () => {}, { guard });
  t.after(async () => {
    await task.destroy();
    await guard.close();
    database.close();
  });
  instrumentGuard(guard, { meterProvider });
  const late = async () => (await read())['cronlatch.job.late'];
  await eventually(async () => (await guard.ledger.jobs()).length === 1, 'the registration of the job');
  assert.deepEqual(await late(), { 'cronlatch.job=close-day': 0 });
  database.exec('UPDATE cronlatch_job SET declared_at = declared_at - 400 * 86400000000'); // In microseconds.
  assert.deepEqual(await late(), { 'cronlatch.job=close-day': 1 });
});

void test('the clock offset is the time of the host less the time of the database, in seconds', async () => {
  const database = new Database(':memory:');
  await createTables(database);
  const { meterProvider, read } = metricsBench();
  const clock = new SettableClock(Date.now() + 90_000);
  const guard = await createJobGuard(database, { clock, logger: false, pollInterval: false });
  guard.wrap(DAILY, () => {});
  instrumentGuard(guard, { meterProvider });
  await guard.run(DAILY, () => {});
  const metrics = await read();
  const offset = metrics['cronlatch.clock.offset']?.[''];
  assert.ok(typeof offset === 'number' && offset > 60 && offset <= 90, `offset: ${String(offset)}`);
  const completedAt = metrics['cronlatch.run.last_completed']?.['cronlatch.job=close-day'];
  assert.ok(Math.abs(Number(completedAt) - Date.now() / 1000) < 60, `completed at: ${String(completedAt)}`);
  await guard.close();
  database.close();
});

/** The warnings that OpenTelemetry's diag gets until the end of the test. */
function diagWarnings(t: TestContext): unknown[][] {
  const warnings: unknown[][] = [];
  const ignore = (): void => {};
  const logger = { error: ignore, info: ignore, debug: ignore, verbose: ignore };
  diag.setLogger({ ...logger, warn: (...words) => void warnings.push(words) }, DiagLogLevel.WARN);
  t.after(() => diag.disable());
  return warnings;
}

const refused = new LockStorageError('refused', { outcome: 'nothing-ran' });

void test('a ledger that stops answering is not reachable, is asked once, and is reported to diag', async (t) => {
  const warnings = diagWarnings(t);
  const runStore = faultyRuns();
  const { guard, read } = bench({ runStore });
  guard.wrap(DAILY, () => {});
  const reachable = async () => (await read())['cronlatch.store.reachable'];
  assert.deepEqual(await reachable(), { '': 1 });
  runStore.calls.length = 0;
  runStore.fail('peek', () => Promise.reject(refused));
  // The SDK keeps exporting the last values of the other gauges.
  assert.deepEqual(await reachable(), { '': 0 });
  assert.deepEqual(runStore.calls, ['peek']);
  assert.deepEqual(warnings, [['cronlatch could not read its stores for the gauges.', refused]]);
  assert.deepEqual(await reachable(), { '': 1 });
});

void test('a store of locks that does not answer is not reachable, also without a ledger', async (t) => {
  diagWarnings(t);
  const { guard, read } = bench({ runStore: undefined });
  assert.deepEqual(await read(), { 'cronlatch.store.reachable': { '': 1 } });
  t.mock.method(guard, 'probe', () => Promise.reject(refused));
  assert.deepEqual(await read(), { 'cronlatch.store.reachable': { '': 0 } });
});

void test('a closed guard is not reachable, and its store is not asked any more', async (t) => {
  const warnings = diagWarnings(t);
  const runStore = faultyRuns();
  const { guard, read } = bench({ runStore });
  await guard.close();
  assert.deepEqual(await read(), { 'cronlatch.store.reachable': { '': 0 } });
  assert.deepEqual([runStore.calls, warnings], [[], []]);
});

void test('a late job that the register no longer has is not late any more', async (t) => {
  const { clock, runStore, read } = bench();
  await runStore.registerJobs([
    registration('nightly', [{ at: new Date(clock.wallMs() + 1).toISOString() }]),
  ]);
  clock.advance('6m');
  assert.deepEqual((await read())['cronlatch.job.late'], { 'cronlatch.job=nightly': 1 });
  t.mock.method(runStore, 'jobs', () => Promise.resolve({ now: new Date(clock.wallMs()), jobs: [] }));
  assert.deepEqual((await read())['cronlatch.job.late'], { 'cronlatch.job=nightly': 0 });
});

void test('a run store without a register of jobs has no late jobs, but the other gauges', async () => {
  const { read } = bench({ runStore: faultyRuns() });
  assert.deepEqual(Object.keys(await read()), ['cronlatch.store.reachable', 'cronlatch.clock.offset']);
});

void test('each collection reads the ledger once per once-per job and four times more', async () => {
  const { runStore } = guardOfRuns();
  const calls: string[] = [];
  const counted = new Proxy(runStore, {
    get(target, name: string) {
      const value: unknown = Reflect.get(target, name);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]): unknown => {
        calls.push(name);
        return Reflect.apply(value, target, args);
      };
    },
  });
  const { guard, read } = bench({ runStore: counted });
  for (let id = 0; id < 3; id += 1) guard.wrap({ ...DAILY, name: `job-${id}` }, () => {});
  await eventually(() => calls.includes('registerJobs'), 'the registration of the jobs');
  calls.length = 0;
  await read();
  assert.deepEqual(calls, ['peek', 'find', 'find', 'find', 'jobs', 'latest', 'since']);
});
