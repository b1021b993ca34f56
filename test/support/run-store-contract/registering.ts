import assert from 'node:assert/strict';
import type { DeclaredJob, JobChange, JobRegistration, RegisteredJob } from '#cronlatch/ledger/job-register';
import { cases } from './fixture';
import { JOB, MINUTE_MS } from './runs';
import { LIMIT, type TestedStore, retryContention, runConcurrently } from './tested-store';

const HOUR_MS = 60 * MINUTE_MS;
const [FIRST, SECOND] = ['host/1', 'host/2'];

const DECLARED: DeclaredJob = {
  lock: JOB,
  lockAtMostForMs: 1_800_000,
  lockAtLeastForMs: 0,
  keepAlive: true,
  kind: 'day',
  timeZone: 'Europe/Paris',
  schedules: [{ expression: '0 3 * * *', timeZone: 'Europe/Paris' }],
  hasCalendar: false,
  hasScopeFunction: false,
};
const LATER: DeclaredJob = { ...DECLARED, lockAtMostForMs: 3_600_000 };
const AT_FOUR: DeclaredJob = { ...DECLARED, schedules: [{ expression: '0 4 * * *' }] };

const REGISTRATION: JobRegistration = {
  job: JOB,
  declared: DECLARED,
  nextScheduledAt: undefined,
  version: '1.0.0',
  registeredBy: FIRST,
};
/** The register shows which jobs exist, what they declare, and whose tick no instance has answered. */
export const registering = cases((test) => [
  test('an empty register lists no job, at the store’s now (L7)', async (c) => {
    const { value, assertIsNow } = await c.store.readClockAround(() => list(c.store));
    assert.deepEqual(value.jobs, []);
    assertIsNow({ now: value.now });
  }),

  test('another instance sees a registered job with all that it declares (L7)', async (c) => {
    const declared = { ...DECLARED, scope: `it's "eu" \\ 日本 :job` };
    const nextScheduledAt = await fromNow(c.store, HOUR_MS);
    const { assertIsNow } = await c.store.readClockAround(() =>
      register(c.store, { declared: { ...declared, retry: undefined }, nextScheduledAt }),
    );
    const { registeredAt, ...job } = await registered(c.other);
    assertIsNow({ registeredAt });
    assert.deepEqual(job, {
      ...REGISTRATION,
      declared,
      nextScheduledAt,
    });
  }),

  test('several jobs are registered at once, and listed in the order of their names (L7)', async (c) => {
    const names = ['b', 'a', 'B', 'ä', 'a b'];
    await register(c.store, {}, names);
    assert.deepEqual(await namesOf(c.other), names.toSorted());
  }),

  test('a job that is registered again is listed once, with its last declaration (L7)', async (c) => {
    await register(c.store);
    await c.elapse('1h');
    const restart = () => register(c.other, { version: '1.1.0', declared: LATER, registeredBy: SECOND });
    const { assertIsNow } = await c.store.readClockAround(restart);
    const { version, registeredAt, declared, registeredBy } = await registered(c.store);
    assert.deepEqual([version, declared, registeredBy], ['1.1.0', LATER, SECOND]);
    assertIsNow({ registeredAt });
  }),

  test('a scheduled time that has passed stays after a restart, and one that was unknown is set (L7)', async (c) => {
    await register(c.store);
    await register(c.store, { nextScheduledAt: await fromNow(c.store, HOUR_MS) });
    await c.elapse('2h');
    for (const nextScheduledAt of [await fromNow(c.store, HOUR_MS), undefined]) {
      await register(c.store, { nextScheduledAt });
      await assertNextIn(c.store, -HOUR_MS);
    }
  }),

  test('the scheduled time of another schedule, or of a wrong clock, is replaced (L7)', async (c) => {
    await register(c.store, { nextScheduledAt: await fromNow(c.store, -HOUR_MS) });
    for (const [hours, expected] of [
      [1000, 1000],
      [-1, 1000],
      [1, 1],
    ] as const) {
      const nextScheduledAt = await fromNow(c.store, hours * HOUR_MS);
      await register(c.store, { declared: AT_FOUR, nextScheduledAt });
      await assertNextIn(c.store, expected * HOUR_MS);
    }
  }),

  test('an answered tick moves the scheduled time on, and a late answer does not (L7)', async (c) => {
    const first = await fromNow(c.store, 0);
    const second = await fromNow(c.store, HOUR_MS);
    const third = await fromNow(c.store, 2 * HOUR_MS);
    await register(c.store, { nextScheduledAt: first });
    for (const [answeredAt, nextScheduledAt, stored] of [
      [first, third, third],
      [first, second, third],
      [third, undefined, undefined],
    ] as const) {
      await update(c.other, { job: JOB, answeredAt, nextScheduledAt });
      assert.deepEqual((await registered(c.store)).nextScheduledAt, stored);
    }
  }),

  test('several jobs are changed at once, and an unknown one is not created (L7)', async (c) => {
    const next = await fromNow(c.store, HOUR_MS);
    await register(c.store, { nextScheduledAt: next }, ['A', 'a', 'ä']);
    const answers = ['a', 'ä', 'unknown'].map((job) => ({
      job,
      answeredAt: next,
      nextScheduledAt: undefined,
    }));
    await update(c.other, ...answers);
    const { jobs } = await list(c.store);
    const seen = jobs.map(({ job, nextScheduledAt }) => [job, nextScheduledAt]);
    assert.deepEqual(seen, [
      ['A', next],
      ['a', undefined],
      ['ä', undefined],
    ]);
  }),

  test('only a job that was not registered lately is forgotten, by its exact name (L7)', async (c) => {
    await register(c.store, {}, ['a', 'A', 'ä']);
    await c.elapse('1h');
    await register(c.other, {}, ['A']);
    for (const job of ['A', 'a', 'unknown'])
      assert.equal(await c.store.raw.forgetJob?.(job, HOUR_MS / 2, LIMIT), job === 'a', job);
    assert.deepEqual(await namesOf(c.other), ['A', 'ä']);
  }),

  test('instances that register the same jobs at once leave one row of each (L7)', async (c) => {
    const names = Array.from({ length: 5 }, (_, i) => `contract-${i}`);
    await runConcurrently(c, 20, (at, i) =>
      register(at, { registeredBy: `host/${i}` }, i % 3 === 0 ? names.toReversed() : names),
    );
    assert.deepEqual(await namesOf(c.other), names);
  }),
]);

async function register(
  { raw }: TestedStore,
  more: Partial<JobRegistration> = {},
  names: readonly string[] = [JOB],
): Promise<void> {
  const registrations = names.map((job) => ({ ...REGISTRATION, ...more, job }));
  await retryContention(async () => await raw.registerJobs?.(registrations, LIMIT));
}

async function update({ raw }: TestedStore, ...changes: readonly JobChange[]): Promise<void> {
  await retryContention(async () => await raw.updateJobs?.(changes, LIMIT));
}

async function list({ raw }: TestedStore) {
  const register = await raw.jobs?.(LIMIT);
  assert.ok(register !== undefined, 'a store with registerJobs should have jobs');
  return register;
}

async function namesOf(store: TestedStore): Promise<string[]> {
  return (await list(store)).jobs.map(({ job }) => job);
}

/** The only registered job. */
async function registered(store: TestedStore): Promise<RegisteredJob> {
  const [job, ...others] = (await list(store)).jobs;
  assert.ok(job !== undefined && others.length === 0, 'one job should be registered');
  return job;
}

async function fromNow(store: TestedStore, ms: number): Promise<Date> {
  return new Date((await store.now()).getTime() + ms);
}

/** Counted from the store's now, because `elapse` may move the instants of rows instead of the clock. */
async function assertNextIn(store: TestedStore, ms: number): Promise<void> {
  const { nextScheduledAt } = await registered(store);
  const differenceMs = Number(nextScheduledAt) - (await store.now()).getTime() - ms;
  assert.ok(Math.abs(differenceMs) < MINUTE_MS, `the next scheduled time is ${differenceMs} ms off`);
}
