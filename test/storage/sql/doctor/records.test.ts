import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeclaredJob, RegisteredJob } from 'cronlatch/provider';
import type { Finding } from '#cronlatch/storage/sql/connections/finding';
import { judgeLocks, judgeRuns } from '#cronlatch/storage/sql/doctor/records';
import { after, NOW, runRow } from '../../../support/jobs/run-row';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const UUID = '0f8fad5b-d9cb-469f-a165-70867728950e';

const DECLARED: DeclaredJob = {
  ...{ lock: 'close-day', lockAtMostForMs: 10 * MINUTE_MS, lockAtLeastForMs: 0 },
  ...{ kind: 'day', timeZone: 'Europe/Paris', schedules: [], hasCalendar: false, hasScopeFunction: false },
};

function job(changes: Partial<RegisteredJob> = {}): RegisteredJob {
  return {
    ...{ job: 'close-day', declared: DECLARED, version: '1.0.0', declaredAt: NOW },
    ...{ registeredBy: 'web-2/17', registeredAt: after(-HOUR_MS), answeredAt: undefined },
    ...changes,
  };
}

const register = (...jobs: RegisteredJob[]) => ({ now: NOW, jobs });

const known = { now: NOW, register: undefined };

function lock(name: string, lockedBy: string, endsInMs: number) {
  return { name, lockedBy, isHeld: endsInMs > 0, lockUntil: after(endsInMs), fencingToken: 1 };
}

const codesOf = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code);

void test('locks of cronlatch and of ShedLock that end soon are in order', () => {
  const owners = [
    `web-1/17/${UUID}`,
    `web-1/17/${UUID}/12`,
    `web-1/17/${UUID}/released`,
    'app-7f9c.example.com',
  ];
  const locks = owners.map((owner, i) => lock(`job-${i}`, owner, HOUR_MS));
  assert.deepEqual(judgeLocks(locks, known), []);
});

void test('a lock that ends after more than a day, and more than its job declares, is reported', () => {
  const locks = [lock('close-day', `web-1/17/${UUID}`, 25 * HOUR_MS)];
  const [finding, ...others] = judgeLocks(locks, known);
  assert.deepEqual([finding?.code, finding?.severity, others], ['long-lock', 'warning', []]);
  assert.equal(
    finding?.problem,
    `Lock 'close-day' is held by 'web-1/17/${UUID}' until 2026-11-21T04:00:00.000Z. Until then its job does not run.`,
  );
  const declared = { ...DECLARED, lockAtMostForMs: 2 * DAY_MS };
  assert.deepEqual(judgeLocks(locks, { now: NOW, register: register(job({ declared })) }), []);
  assert.deepEqual(codesOf(judgeLocks(locks, { now: NOW, register: register(job()) })), ['long-lock']);
});

void test('a lock that an operator holds is in order', () => {
  const owner = 'hold/ann/year end/2026-11-20T00:00:00.000Z';
  assert.deepEqual(judgeLocks([lock('close-day', owner, 90 * DAY_MS)], known), []);
});

void test('a lock or a run with a time that lies more than 5 minutes ahead is an error', () => {
  const granted = (lockedAt: Date) => ({
    ...lock('close-day', `web-1/17/${UUID}/released`, 8 * HOUR_MS),
    ...{ lockedAt, readAt: NOW },
  });
  const [near, far] = [after(5 * MINUTE_MS), after(5 * MINUTE_MS + 1)];
  assert.deepEqual(judgeLocks([granted(near)], known), []);
  assert.deepEqual(codesOf(judgeLocks([granted(far)], known)), ['clock-ahead']);
  const ended = (updatedAt: Date, startedAt = NOW) =>
    judgeRuns([runRow({ state: 'completed', startedAt, finishedAt: updatedAt, updatedAt })], known);
  assert.deepEqual(ended(near), []);
  assert.deepEqual(codesOf(ended(far)), ['clock-ahead']);
  assert.deepEqual(codesOf(ended(NOW, far)), ['clock-ahead'], 'its clock was set right while it ran');
});

void test('an owner that another program wrote is reported, unless the lock is free', () => {
  const owner = 'maintenance by Ann';
  assert.deepEqual(codesOf(judgeLocks([lock('close-day', owner, HOUR_MS)], known)), ['unknown-owner']);
  assert.deepEqual(judgeLocks([lock('close-day', owner, -HOUR_MS)], known), []);
});

void test('of many findings alike, ten are shown, and the last one has the number of the others', () => {
  const locks = Array.from({ length: 12 }, (_, i) => lock(`job-${i}`, `web-1/17/${UUID}`, 2 * DAY_MS));
  const findings = judgeLocks([...locks, lock('other', 'by Ann', HOUR_MS)], known);
  assert.equal(findings.length, 11);
  assert.match(findings[9]?.problem ?? '', / There are 2 more like this\.$/);
  assert.match(findings[10]?.problem ?? '', /'other'/);
});

void test('a running run is reported when no instance has retried it for a quarter of an hour', () => {
  const running = (leaseUntil: Date) => judgeRuns([runRow({ leaseUntil })], known);
  assert.deepEqual(running(after(-14 * MINUTE_MS)), []);
  const [finding] = running(after(-16 * MINUTE_MS));
  assert.deepEqual([finding?.code, finding?.severity], ['stuck-run', 'warning']);
  assert.equal(
    finding?.problem,
    `The run of job 'close-day' for 2026-11-20 has a holder that is gone, and no instance retries it.`,
  );
});

void test('if no instance has registered the job of a stuck run, that is the cause', () => {
  const run = runRow({ leaseUntil: after(-HOUR_MS) });
  const problemWith = (...jobs: RegisteredJob[]) =>
    judgeRuns([run], { now: NOW, register: register(...jobs) })[0]?.problem;
  assert.match(problemWith() ?? '', /, because none has registered the job\.$/);
  assert.match(problemWith(job()) ?? '', /no instance retries it\.$/);
});

void test('a run whose lease ends after more than a day, and more than its job declares, is reported', () => {
  const run = runRow({ leaseUntil: after(25 * HOUR_MS) });
  const [finding, ...others] = judgeRuns([run], known);
  assert.deepEqual([finding?.code, finding?.severity, others], ['long-lease', 'warning', []]);
  assert.equal(
    finding?.problem,
    `The run of job 'close-day' for 2026-11-20 has a lease until 2026-11-21T04:00:00.000Z. If its holder is gone, no instance retries it before.`,
  );
  const declared = { ...DECLARED, lockAtMostForMs: 2 * DAY_MS };
  assert.deepEqual(judgeRuns([run], { now: NOW, register: register(job({ declared })) }), []);
});

void test('runs that have ended are in order, because status reports them', () => {
  const states = ['pending', 'completed', 'failed', 'skipped', 'interrupted'] as const;
  const ended = states.map((state) => runRow({ state, leaseUntil: after(-HOUR_MS) }));
  assert.deepEqual(judgeRuns(ended, known), []);
});
