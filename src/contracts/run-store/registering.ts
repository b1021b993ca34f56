import assert from 'node:assert/strict';
import type { DeclaredJob, JobChange, JobRegistration, RegisteredJob } from '../../ledger/job-register';
import type { RunStore } from '../../ledger/run-store';
import { readClockAround, retryContention, runConcurrently } from './assertions';
import { needing } from './fixture';
import { JOB, LIMIT, MINUTE_MS, nowOf } from './runs';

const HOUR_MS = 60 * MINUTE_MS;
const [FIRST, SECOND] = ['host/1', 'host/2'];

const DECLARED: DeclaredJob = {
  ...{ lock: JOB, lockAtMostForMs: 1_800_000, lockAtLeastForMs: 0, keepAlive: true, kind: 'day' },
  ...{ timeZone: 'Europe/Paris', schedules: [{ expression: '0 3 * * *', timeZone: 'Europe/Paris' }] },
  ...{ hasCalendar: false, hasScopeFunction: false, history: false },
};
const LATER: DeclaredJob = { ...DECLARED, lockAtMostForMs: 3_600_000 };
const AT_FOUR: DeclaredJob = { ...DECLARED, schedules: [{ expression: '0 4 * * *' }] };

const BASE = { job: JOB, declared: DECLARED, nextScheduledAt: undefined, version: '1.0.0' };
const NO_RUN = {
  ...{ lastStartedAt: undefined, lastFinishedAt: undefined, lastOutcome: undefined, lastHolder: undefined },
};
const [RAN, ENDED] = [2 * MINUTE_MS, MINUTE_MS];
const COMPLETED = {
  ...{ job: JOB, startedMsAgo: RAN, finishedMsAgo: ENDED, outcome: 'completed', holder: FIRST },
} as const satisfies JobChange;

/** The register shows which jobs exist, what they declare, and whose tick no instance has answered. */
export const registering = needing(['registerJobs'], {
  async 'an empty register lists no job, at the store’s now (L7)'({ store }) {
    const { value, assertIsNow } = await readClockAround(store, () => list(store));
    assert.deepEqual(value.jobs, []);
    assertIsNow(value.now, 'now');
  },

  async 'another instance sees a registered job with all that it declares (L7)'({ store, other }) {
    const declared = { ...DECLARED, scope: `it's "eu" \\ 日本 :job` };
    const nextScheduledAt = await fromNow(store, HOUR_MS);
    const { assertIsNow } = await readClockAround(store, () =>
      register(store, { declared: { ...declared, retry: undefined }, nextScheduledAt }),
    );
    const { registeredAt, ...job } = await registered(other);
    assertIsNow(registeredAt, 'registeredAt');
    assert.deepEqual(job, {
      ...{ ...BASE, declared, nextScheduledAt, registeredBy: FIRST, previous: undefined, ...NO_RUN },
    });
  },

  async 'several jobs are registered at once, and listed in the order of their names (L7)'({ store, other }) {
    const names = ['b', 'a', 'B', 'ä', 'a b'];
    await registerAll(store, names);
    assert.deepEqual(await namesOf(other), names.toSorted());
  },

  async 'a job that is registered again is listed once, and a different declaration becomes the previous one (L7)'({
    store,
    other,
    elapse,
  }) {
    await register(store);
    await elapse('1h');
    const { assertIsNow } = await readClockAround(store, () => register(other, { version: '1.1.0' }));
    const { version, registeredAt, previous } = await registered(store);
    assert.deepEqual([version, previous], ['1.1.0', undefined]);
    assertIsNow(registeredAt, 'registeredAt');
    await register(other, { declared: LATER, registeredBy: SECOND });
    const now = await registered(store);
    assert.deepEqual([now.declared, now.registeredBy], [LATER, SECOND]);
    assert.deepEqual(now.previous, { declared: DECLARED, registeredBy: FIRST, registeredAt });
    await elapse('1m');
    await register(other, { declared: LATER, registeredBy: SECOND });
    const { previous: kept } = await registered(store);
    assert.deepEqual([kept?.declared, kept?.registeredBy], [DECLARED, FIRST]);
  },

  async 'a scheduled time that has passed stays after a restart, and one that was unknown is set (L7)'({
    store,
    elapse,
  }) {
    await register(store);
    await register(store, { nextScheduledAt: await fromNow(store, HOUR_MS) });
    await elapse('2h');
    for (const nextScheduledAt of [await fromNow(store, HOUR_MS), undefined]) {
      await register(store, { nextScheduledAt });
      await assertNextIn(store, -HOUR_MS);
    }
  },

  async 'the scheduled time of another schedule, or of a wrong clock, is replaced (L7)'({ store }) {
    await register(store, { nextScheduledAt: await fromNow(store, -HOUR_MS) });
    await register(store, { declared: AT_FOUR, nextScheduledAt: await fromNow(store, 1000 * HOUR_MS) });
    await assertNextIn(store, 1000 * HOUR_MS);
    await register(store, { declared: AT_FOUR, nextScheduledAt: await fromNow(store, -HOUR_MS) });
    await assertNextIn(store, 1000 * HOUR_MS);
    await register(store, { declared: AT_FOUR, nextScheduledAt: await fromNow(store, HOUR_MS) });
    await assertNextIn(store, HOUR_MS);
  },

  async 'an answered tick moves the scheduled time on, and a late answer does not (L7)'({ store, other }) {
    const [first, second, third] = await Promise.all(
      [0, 1, 2].map((hours) => fromNow(store, hours * HOUR_MS)),
    );
    assert.ok(first && second && third);
    await register(store, { nextScheduledAt: first });
    for (const [answeredAt, nextScheduledAt, stored] of [
      [first, third, third],
      [first, second, third],
      [third, undefined, undefined],
    ] as const) {
      await update(other, { job: JOB, answeredAt, nextScheduledAt });
      assert.deepEqual((await registered(store)).nextScheduledAt, stored);
    }
  },

  async 'the last run is counted back from the store’s now, and stays until a later one (L7)'(fixture) {
    const { store, other } = fixture;
    await register(store);
    const { assertIsNow } = await readClockAround(store, () => update(other, COMPLETED));
    const { lastStartedAt, lastFinishedAt, ...rest } = await registered(store);
    assertIsNow(lastStartedAt && new Date(lastStartedAt.getTime() + RAN), 'lastStartedAt and its age');
    assertIsNow(lastFinishedAt && new Date(lastFinishedAt.getTime() + ENDED), 'lastFinishedAt and its age');
    assert.deepEqual([rest.lastOutcome, rest.lastHolder], ['completed', FIRST]);
    const later = { startedMsAgo: ENDED, finishedMsAgo: 0, outcome: 'failed', holder: SECOND } as const;
    await update(store, { ...COMPLETED, ...later });
    await update(other, COMPLETED);
    await register(store, { declared: LATER });
    const { lastOutcome, lastHolder } = await registered(store);
    assert.deepEqual([lastOutcome, lastHolder], ['failed', SECOND]);
  },

  async 'several jobs are changed at once, and an unknown one is not created (L7)'({ store, other }) {
    const next = await fromNow(store, HOUR_MS);
    await registerAll(store, ['A', 'a', 'ä'], { nextScheduledAt: next });
    const answered = { answeredAt: next, nextScheduledAt: undefined };
    const changes = ['ä', 'unknown'].map((job) => ({ job, ...answered }));
    await update(other, { ...COMPLETED, job: 'a' }, ...changes);
    const { jobs } = await list(store);
    assert.deepEqual(
      jobs.map(({ job, lastOutcome, nextScheduledAt }) => [job, lastOutcome, nextScheduledAt]),
      [
        ['A', undefined, next],
        ['a', 'completed', next],
        ['ä', undefined, undefined],
      ],
    );
  },

  async 'only a job that was not registered lately is forgotten, by its exact name (L7)'(fixture) {
    const { store, other, elapse } = fixture;
    await registerAll(store, ['a', 'A', 'ä']);
    await elapse('1h');
    await registerAll(other, ['A']);
    for (const [job, isForgotten] of [
      ['A', false],
      ['a', true],
      ['unknown', false],
    ] as const)
      assert.equal(await store.forgetJob?.(job, HOUR_MS / 2, LIMIT), isForgotten, job);
    assert.deepEqual(await namesOf(other), ['A', 'ä']);
  },

  async 'instances that register the same jobs at once leave one row of each (L7)'({ store, other }) {
    const names = Array.from({ length: 5 }, (_, i) => `contract-${i}`);
    await runConcurrently(20, [store, other], (each, i) =>
      registerAll(each, i % 3 === 0 ? names.toReversed() : names, { registeredBy: `host/${i}` }),
    );
    assert.deepEqual(await namesOf(other), names);
  },
});

async function registerAll(
  store: RunStore,
  names: readonly string[],
  more: Partial<JobRegistration> = {},
): Promise<void> {
  const registrations = names.map((job) => ({ ...BASE, registeredBy: FIRST, ...more, job }));
  await retryContention(async () => await store.registerJobs?.(registrations, LIMIT));
}

async function register(store: RunStore, job: Partial<JobRegistration> = {}): Promise<void> {
  await registerAll(store, [JOB], job);
}

async function update(store: RunStore, ...changes: readonly JobChange[]): Promise<void> {
  await retryContention(async () => await store.updateJobs?.(changes, LIMIT));
}

async function list(store: RunStore) {
  const register = await store.jobs?.(LIMIT);
  assert.ok(register !== undefined, 'a store with registerJobs should have jobs');
  return register;
}

async function namesOf(store: RunStore): Promise<string[]> {
  return (await list(store)).jobs.map(({ job }) => job);
}

/** The only registered job. */
async function registered(store: RunStore): Promise<RegisteredJob> {
  const [job, ...others] = (await list(store)).jobs;
  assert.ok(job !== undefined && others.length === 0, 'one job should be registered');
  return job;
}

async function fromNow(store: RunStore, ms: number): Promise<Date> {
  return new Date((await nowOf(store)).getTime() + ms);
}

/** Counted from the store's now, because `elapse` may move the instants of rows instead of the clock. */
async function assertNextIn(store: RunStore, ms: number): Promise<void> {
  const { nextScheduledAt } = await registered(store);
  const differenceMs = Number(nextScheduledAt) - (await nowOf(store)).getTime() - ms;
  assert.ok(Math.abs(differenceMs) < MINUTE_MS, `the next scheduled time is ${differenceMs} ms off`);
}
