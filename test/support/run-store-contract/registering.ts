import assert from 'node:assert/strict';
import type { DeclaredJob, JobAnswer, JobRegistration, RegisteredJob } from '#cronlatch/ledger/job-register';
import { cases } from './fixture';
import { JOB, MINUTE_MS } from './runs';
import { LIMIT, type TestedStore, retryContention, runConcurrently } from './tested-store';

const HOUR_MS = 60 * MINUTE_MS;
const [FIRST, SECOND] = ['host/1', 'host/2'];

const DECLARED: DeclaredJob = {
  lock: JOB,
  lockAtMostForMs: 1_800_000,
  lockAtLeastForMs: 0,
  renewEveryMs: 1000,
  kind: 'day',
  timeZone: 'Europe/Paris',
  schedules: [{ expression: '0 3 * * *', timeZone: 'Europe/Paris', dialect: 'unix' }],
  hasCalendar: false,
  hasScopeFunction: false,
};
const LATER: DeclaredJob = { ...DECLARED, lockAtMostForMs: 3_600_000 };
const AT_FOUR: DeclaredJob['schedules'] = [{ expression: '0 4 * * *', dialect: 'unix' }];

const REGISTRATION: JobRegistration = {
  job: JOB,
  declared: DECLARED,
  version: '1.0.0',
  registeredBy: FIRST,
};

/** The register shows which jobs exist, what they declare since when, and which ticks were answered. */
export const registering = cases((test) => [
  test('an empty register lists no job, at the store’s now (L7)', async (c) => {
    const { value, assertIsNow } = await c.store.readClockAround(() => c.store.raw.jobs(LIMIT));
    assert.deepEqual(value.jobs, []);
    assertIsNow({ now: value.now });
  }),

  test('another instance sees a registered job with all that it declares (L7)', async (c) => {
    const declared = { ...DECLARED, scope: `it's "eu" \\ 日本 :job` };
    const { assertIsNow } = await c.store.readClockAround(() =>
      register(c.store, { declared: { ...declared, retry: undefined } }),
    );
    const { registeredAt, declaredAt, ...job } = await registered(c.other);
    assertIsNow({ registeredAt, declaredAt });
    assert.deepEqual(job, { ...REGISTRATION, declared, answeredAt: undefined });
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

  test('a job is declared since its last change of schedule or periods (L7)', async (c) => {
    const { assertIsNow } = await c.store.readClockAround(() => register(c.store));
    assertIsNow(await declared(c.other));
    const changes: readonly Partial<DeclaredJob>[] = [
      ...[{ schedules: AT_FOUR }, { schedules: [...AT_FOUR, { every: 1000 }] }, { kind: 'week' } as const],
      ...[{ timeZone: 'UTC' }, { dayStart: '02:00' }, { target: 'previous' } as const],
      ...[{ disabled: 'job' } as const, { disabled: undefined }],
    ];
    let job = DECLARED;
    for (const change of changes) {
      await c.elapse('1h');
      job = { ...job, ...change };
      const { assertIsNow } = await c.store.readClockAround(() => register(c.other, { declared: job }));
      assertIsNow(await declared(c.store));
    }
  }),

  test('a restart, and a change of anything else, keep since when a job is declared (L7)', async (c) => {
    await register(c.store);
    for (const declared of [DECLARED, LATER, { ...LATER, scope: 'eu', onCrash: 'hold' as const }]) {
      await c.elapse('1h');
      await register(c.store, { declared, registeredBy: SECOND, version: '1.1.0' });
    }
    // `elapse` may move the instants of rows instead of the clock.
    const { declaredAt } = await declared(c.store);
    const ageMs = (await c.store.now()).getTime() - Number(declaredAt);
    assert.ok(Math.abs(ageMs - 3 * HOUR_MS) < MINUTE_MS, `${ageMs} ms`);
  }),

  test('a newer answer is kept, also after a restart, and a late one has no effect (L7)', async (c) => {
    await register(c.store);
    assert.equal((await registered(c.other)).answeredAt, undefined);
    const [first, second, third] = [0, 1, 2].map(
      (hours) => new Date(Date.parse('2026-11-20T03:00:00.001Z') + hours * HOUR_MS),
    ) as [Date, Date, Date];
    for (const [answeredAt, stored] of [
      [second, second],
      [first, second],
      [third, third],
    ] as const) {
      await answer(c.other, { job: JOB, answeredAt });
      await register(c.other, { declared: { ...DECLARED, schedules: AT_FOUR } });
      assert.deepEqual((await registered(c.store)).answeredAt, stored);
    }
  }),

  test('several jobs are answered at once, by their exact names, and an unknown one is not created (L7)', async (c) => {
    const [first, second] = [new Date('2026-11-20T03:00:00Z'), new Date('2026-11-20T04:00:00Z')];
    await register(c.store, {}, ['A', 'a', 'ä']);
    const answers = { ä: second, unknown: first, a: first };
    await answer(c.other, ...Object.entries(answers).map(([job, answeredAt]) => ({ job, answeredAt })));
    const { jobs } = await c.store.raw.jobs(LIMIT);
    assert.deepEqual(
      jobs.map(({ job, answeredAt }) => [job, answeredAt]),
      [
        ['A', undefined],
        ['a', first],
        ['ä', second],
      ],
    );
  }),

  test('only a job that was not registered lately is forgotten, by its exact name (L7)', async (c) => {
    await register(c.store, {}, ['a', 'A', 'ä']);
    await c.elapse('1h');
    await register(c.other, {}, ['A']);
    for (const job of ['A', 'a', 'unknown'])
      assert.equal(await c.store.raw.forgetJob(job, HOUR_MS / 2, LIMIT), job === 'a', job);
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
  await retryContention(async () => await raw.registerJobs(registrations, LIMIT));
}

async function answer({ raw }: TestedStore, ...answers: readonly JobAnswer[]): Promise<void> {
  await retryContention(async () => await raw.answerJobs(answers, LIMIT));
}

async function namesOf(store: TestedStore): Promise<string[]> {
  return (await store.raw.jobs(LIMIT)).jobs.map(({ job }) => job);
}

/** The only registered job. */
async function registered(store: TestedStore): Promise<RegisteredJob> {
  const [job, ...others] = (await store.raw.jobs(LIMIT)).jobs;
  assert.ok(job !== undefined && others.length === 0, 'one job should be registered');
  return job;
}

async function declared(store: TestedStore) {
  const { declaredAt } = await registered(store);
  return { declaredAt };
}
