/** The list of what an operator can do: what every act refuses, and what its plan must not do. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { operations, type ActMethods } from 'cronlatch/operations';
import { ACTS, performed, planOf } from '#cronlatch/operations/acts/index';
import { ConflictError, Desk, type Verb } from '#cronlatch/operations/acts/act';
import type { FoundRun } from '#cronlatch/ledger/run-store';
import { DAILY, guardOfRuns, type GuardOfRuns } from '../support/benches/guard-of-runs';

const BY = { actor: 'anne', reason: 'ticket 7' };
const [JOB, PERIOD] = [DAILY.name, '2026-11-18'];
const RUN = { job: JOB, period: PERIOD };

/** Sends what JavaScript can send. */
async function call({ guard }: GuardOfRuns, verb: Verb, values: object): Promise<unknown> {
  return await (operations(guard)[verb] as (given: object) => Promise<unknown>)(values);
}

/** A guard with a registered job, its completed run, and its lock in this state. */
async function bench() {
  const of = guardOfRuns();
  of.guard.wrap(DAILY, () => {});
  await of.guard.runOverdue();
  await of.guard.run({ ...DAILY, at: new Date(`${PERIOD}T12:00:00Z`) }, () => {});
  return of;
}

/** Counts what writes to the stores, from now on. */
function writesTo({ runStore, provider }: GuardOfRuns): () => number {
  const calls = [
    ...(['insert', 'change', 'purge', 'forgetJob'] as const).map((name) => mock.method(runStore, name)),
    mock.method(runStore.acts, 'add'),
    ...(['lock', 'hold', 'forceRelease'] as const).map((name) => mock.method(provider, name)),
  ];
  return () => calls.reduce((count, { mock: of }) => count + of.callCount(), 0);
}

/** The state of the run, as another instance would have left it. */
async function setRun({ runStore }: GuardOfRuns, state: 'failed' | 'interrupted'): Promise<void> {
  await runStore.change({ job: JOB, scope: '', periodKey: PERIOD }, (found) => {
    const { run } = found as FoundRun;
    return { value: undefined, write: { ...run, state, nextAttemptAt: undefined } };
  });
}

const held = async ({ provider }: GuardOfRuns): Promise<unknown> =>
  await provider.lock({ name: JOB, lockAtMostFor: '10m' });
const paused = async ({ guard }: GuardOfRuns): Promise<unknown> =>
  await operations(guard).pause({ job: JOB }, BY);

interface Case {
  readonly values: Readonly<Record<string, string | true>>;
  /** What another one does before the act that is possible. */
  readonly before?: (of: GuardOfRuns) => Promise<unknown>;
  /** What another one does before the act that the state does not allow. */
  readonly unless?: (of: GuardOfRuns) => Promise<unknown>;
  readonly refusal: RegExp;
}

const nothing = (): Promise<void> => Promise.resolve();
const CASES: Readonly<Record<Exclude<Verb, 'purge'>, Case>> = {
  run: {
    values: { job: JOB },
    unless: async ({ guard }) => await guard.run(DAILY, () => {}),
    refusal: /^Cannot run job 'close-day'.* completed .+ To run it again: cronlatch rerun/,
  },
  rerun: {
    values: RUN,
    before: async (of) => await setRun(of, 'failed'),
    refusal: /^Cannot rerun the run of .+: it is completed\. To rerun it anyway, pass force: true\.$/,
  },
  resolve: {
    values: { ...RUN, as: 'failed' },
    before: async (of) => await setRun(of, 'interrupted'),
    refusal: /^Cannot resolve .+: it is completed\. Only an interrupted run can be resolved\.$/,
  },
  skip: {
    values: RUN,
    before: async (of) => await setRun(of, 'failed'),
    refusal:
      /^Cannot skip .+: it is completed\. A run that is running, completed or skipped cannot be skipped\.$/,
  },
  pause: { values: { job: JOB }, unless: held, refusal: /^Lock 'close-day' is held by '.+' until / },
  resume: { values: { job: JOB }, before: paused, refusal: /^Lock 'close-day' is not paused: it is free\.$/ },
  release: {
    values: { lock: JOB },
    before: held,
    refusal: /^Lock 'close-day' is free: no process holds it\.$/,
  },
  forget: {
    values: { job: JOB },
    before: ({ clock }) => Promise.resolve(clock.advance('16m')),
    refusal: /^Cannot forget job 'close-day': .+ has registered it within the last 15 minutes\./,
  },
};

for (const [verb, { values, before = nothing, unless = nothing, refusal }] of Object.entries(CASES)) {
  const act = ACTS.get(verb) ?? assert.fail(verb);

  void test(`${verb}: its plan refuses in another state, and writes nothing`, async () => {
    const of = await bench();
    await unless(of);
    const writes = writesTo(of);
    const planned = planOf(act, new Desk(of.guard, BY), values);
    await assert.rejects(planned, (error) => error instanceof ConflictError && refusal.test(error.message));
    assert.equal(writes(), 0);
  });

  void test(`${verb}: its plan writes nothing, and its act is refused if the state has changed since`, async () => {
    const of = await bench();
    await before(of);
    const writes = writesTo(of);
    const desk = new Desk(of.guard, BY);
    const [first, second] = [await planOf(act, desk, values), await planOf(act, desk, values)];
    assert.equal(writes(), 0);
    assert.ok(first.lines.length > 0);
    const { text, act: id } = await performed(desk, first);
    assert.ok(text.endsWith('.'));
    assert.ok(writes() > 0);
    await assert.rejects(performed(desk, second), ConflictError);
    const acts = (await operations(of.guard).acts()).filter(
      (each) => each.verb === verb && each.actor === BY.actor,
    );
    const subjects = acts.map((each) => [each.id === id, each.state, each.reason, each.job ?? each.lock]);
    const done = [true, verb === 'run' ? 'open' : 'done', BY.reason, JOB];
    // A second request to run a job leaves no row: the first one has not ended.
    const refused = [false, 'refused', BY.reason, JOB];
    assert.deepEqual(subjects, verb === 'run' ? [done] : [refused, done]);
  });
}

const VALUES: Readonly<Record<string, object>> = {
  ...Object.fromEntries(Object.entries(CASES).map(([verb, { values }]) => [verb, values])),
  purge: { olderThan: '1d' },
};

void test('every act is refused without an actor and a reason, before it reads anything', async () => {
  const of = await bench();
  const reads = mock.method(of.runStore, 'jobs');
  const writes = writesTo(of);
  for (const verb of ACTS.keys() as MapIterator<Verb>)
    for (const [wrong, message] of [
      [{ actor: undefined }, /^actor is undefined: each act needs a text of 1 to 128 characters\.$/],
      [{ actor: ' ' }, /^actor is " ": each act needs/],
      [{ actor: 'a'.repeat(129) }, /^actor is .+: each act needs a text of 1 to 128 characters\.$/],
      [{ actor: 'two\nlines' }, /^actor is .+: remove its control characters\.$/],
      [{ reason: undefined }, /^reason is undefined: each act needs a text of 1 to 500 characters\.$/],
      [{ reason: '😀'.repeat(501) }, /^reason is .+: each act needs a text of 1 to 500 characters\.$/],
      [{ reason: 'a\u0000b' }, /^reason is .+: remove its control characters\.$/],
      [{ reason: '\ud83d' }, /^reason is .+: remove its control characters\.$/],
    ] as const)
      await assert.rejects(
        call(of, verb, { ...BY, ...VALUES[verb], ...wrong }),
        (error) => error instanceof InvalidLockConfigurationError && message.test(error.message),
        `${verb} ${Object.keys(wrong)[0]}`,
      );
  assert.deepEqual([reads.mock.callCount(), writes()], [0, 0]);
});

void test('a value of another type, an unknown choice and an unknown option are refused by name, in every act', async () => {
  const of = await bench();
  const writes = writesTo(of);
  const refused = async (verb: Verb, values: object, message: RegExp): Promise<void> =>
    await assert.rejects(
      call(of, verb, { ...BY, ...VALUES[verb], ...values }),
      (error) => error instanceof InvalidLockConfigurationError && message.test(error.message),
      `${verb} ${JSON.stringify(values)}`,
    );
  for (const [verb, { fields }] of ACTS as ReadonlyMap<
    Verb,
    { readonly fields: readonly { name: string; kind: string }[] }
  >) {
    for (const { name, kind } of fields)
      await refused(
        verb,
        { [name]: 7 },
        new RegExp(`^${name} is 7: pass ${kind === 'flag' ? 'true or false' : 'a text'}\\.$`),
      );
    for (const name of fields.filter(({ kind }) => kind === 'flag').map((field) => field.name))
      await refused(verb, { [name]: 'yes' }, new RegExp(`^${name} is "yes": pass true or false\\.$`));
    for (const [name] of Object.entries(CASES[verb as 'run']?.values ?? {}).filter(([name]) => name !== 'as'))
      await refused(verb, { [name]: 7 }, new RegExp(`^${name} is 7: pass a text\\.$`));
    await refused(
      verb,
      { reson: 'a typo' },
      new RegExp(`^Unknown option 'reson' for operations\\(guard\\)\\.${verb}\\. Did you mean 'reason'\\?$`),
    );
  }
  for (const as of ['done', '', undefined])
    await refused('resolve', { as }, /^as is .+: use completed, failed, pending\.$/);
  await refused('run', { from: '2026-11-01' }, /^to is missing\.$/);
  await refused('run', { to: '2026-11-01' }, /^from is missing\.$/);
  await refused('run', { from: '2026-11-31', to: '2026-12-01' }, /^from is "2026-11-31"/);
  await refused(
    'run',
    { from: '2026-11-01', to: '2026-11-02', period: PERIOD },
    /^Name either a period, or a range/,
  );
  await refused('run', { within: '8d' }, /^within is "8d": it must lie between 0 and 7 days\.$/);
  await refused('skip', { period: undefined }, /^period is undefined: pass a text\.$/);
  await refused('purge', { olderThan: 'soon' }, /^olderThan is "soon"/);
  await refused('purge', { olderThan: undefined }, /^olderThan is undefined: pass a text\.$/);
  for (const verb of ['pause', 'resume'] as const) {
    await refused(verb, { lock: JOB }, /^Name either a job, or a lock with lock\.$/);
    await refused(verb, { job: undefined }, /^Name either a job, or a lock with lock\.$/);
  }
  assert.equal(writes(), 0);
});

void test('each act returns its facts', async () => {
  const of = await bench();
  const { run, rerun, skip, purge, forget } = operations(of.guard);
  const range = { from: PERIOD, to: '2026-11-20', ...BY };
  const { text, facts } = await run({ job: JOB }, range);
  const { added, ...others } = facts as { readonly added: readonly { readonly key: string }[] };
  assert.deepEqual(
    [text, added.map(({ key }) => key), others],
    ['Added 2026-11-19.', ['2026-11-19'], { job: JOB, scope: '' }],
  );
  assert.deepEqual(await run({ job: JOB }, range), {
    text: `No business day from ${PERIOD} to 2026-11-20 lacks a run.`,
    act: undefined,
    facts: { job: JOB, scope: '', added: [] },
  });
  const states = ({
    facts: { run: after, before },
  }: {
    readonly facts: { run?: { state: string }; before?: { state: string } };
  }) => [before?.state, after?.state];
  assert.deepEqual(states(await rerun(RUN, { ...BY, force: true })), ['completed', 'pending']);
  assert.deepEqual(states(await skip({ job: JOB, period: '2026-11-17' }, BY)), [undefined, 'skipped']);
  const { act: purged, ...deleted } = await purge({ olderThan: '1d', ...BY });
  assert.deepEqual(deleted, { text: 'Deleted 0.', facts: { deleted: 0, locks: false } });
  of.clock.advance('16m');
  const { act: forgot, ...forgotten } = await forget({ job: JOB }, BY);
  assert.deepEqual(forgotten, { text: 'Forgotten.', facts: { forgotten: JOB } });
  const acts = await operations(of.guard).acts({ limit: 2 });
  assert.deepEqual(
    acts.map(({ id, verb }) => [id, verb]),
    [
      [forgot, 'forget'],
      [purged, 'purge'],
    ],
  );
});

void test('each method that is gone names its successor', () => {
  const { guard } = guardOfRuns();
  const gone: readonly (readonly [
    owner: object,
    name: string,
    successors: Readonly<Record<string, keyof ActMethods>>,
  ])[] = [
    [guard, 'guard', { backfill: 'run' }],
    [guard.locks, 'guard.locks', { hold: 'pause', unhold: 'resume', release: 'release', purge: 'purge' }],
    [
      guard.ledger,
      'guard.ledger',
      {
        rerun: 'rerun',
        resolve: 'resolve',
        skip: 'skip',
        requestRun: 'run',
        forget: 'forget',
        purge: 'purge',
      },
    ],
  ];
  for (const [owner, name, successors] of gone)
    for (const [method, successor] of Object.entries(successors))
      assert.throws(
        () => (owner as Record<string, () => void>)[method]?.(),
        new RegExp(
          `^InvalidLockUseError: ${name}\\.${method} is gone\\. Use operations\\(guard\\)\\.${successor} of cronlatch/operations\\.$`,
        ),
      );
});
