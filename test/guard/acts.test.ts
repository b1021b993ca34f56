/** The list of what an operator can do: what every act refuses, and what its plan must not do. */
import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { InvalidLockConfigurationError } from 'cronlatch';
import { operations, type ActResult } from 'cronlatch/operations';
import type { Run } from 'cronlatch/provider';
import { actOf, ACTS, performed, planOf } from '#cronlatch/operations/acts/index';
import { ConflictError } from '#cronlatch/ledger/operator/decide-act';
import { Desk, type Act, type Verb } from '#cronlatch/operations/acts/act';
import type { FoundRun } from '#cronlatch/ledger/run-store';
import { turn } from '../support/benches/lock';
import { runningJob } from '../support/benches/guard';
import { eventually } from '../support/clocks/eventually';
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

/** The values of an act, what another one does before it if it is possible, and if not, and the refusal. */
type Step = (of: GuardOfRuns) => unknown;
type Case = readonly [values: Readonly<Record<string, string>>, before: Step, unless: Step, refusal: RegExp];

const nothing = (): void => {};
const CASES: Readonly<Record<Exclude<Verb, 'purge'>, Case>> = {
  run: [
    { job: JOB },
    nothing,
    ({ guard }) => guard.run(DAILY, () => {}),
    / completed at .*\. To run it again: cronlatch rerun close-day \S+ --force --reason TEXT\.$/,
  ],
  rerun: [
    RUN,
    (of) => setRun(of, 'failed'),
    nothing,
    /^Cannot rerun the run of .+: it is completed\. To rerun it anyway, pass force: true\.$/,
  ],
  resolve: [
    { ...RUN, as: 'failed' },
    (of) => setRun(of, 'interrupted'),
    nothing,
    /^Cannot resolve .+: it is completed\. Only an interrupted run can be resolved\.$/,
  ],
  skip: [
    RUN,
    (of) => setRun(of, 'failed'),
    nothing,
    /^Cannot skip .+: it is completed\. A run that is running, completed or skipped cannot be/,
  ],
  pause: [{ job: JOB }, nothing, held, /^Lock 'close-day' is held by '.+' until /],
  resume: [{ job: JOB }, paused, nothing, /^Lock 'close-day' is not paused: it is free\.$/],
  release: [{ lock: JOB }, held, nothing, /^Lock 'close-day' is free: no process holds it\.$/],
  forget: [
    { job: JOB },
    ({ clock }) => clock.advance('16m'),
    nothing,
    /^Cannot forget job 'close-day': .+ has registered it within the last 15 minutes\./,
  ],
};

for (const [verb, [values, before, unless, refusal]] of Object.entries(CASES)) {
  const act = ACTS.get(verb) ?? assert.fail(verb);
  const plan = async ({ guard }: GuardOfRuns) => await planOf(act, new Desk(guard, BY), values);

  void test(`${verb}: its plan refuses in another state, and writes nothing`, async () => {
    const of = await bench();
    await unless(of);
    const writes = writesTo(of);
    await assert.rejects(plan(of), (error) => error instanceof ConflictError && refusal.test(error.message));
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
    const isNamed = ({ message }: Error): boolean => / by anne at \d{4}-\d\d-\d\d.*ticket 7/.test(message);
    await assert.rejects(
      performed(desk, second),
      (error) => error instanceof ConflictError && (isNamed(error) || assert.fail(error.message)),
    );
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

/** What is planned now, and done when the state has changed. */
async function refusalOf(of: GuardOfRuns, verb: 'rerun' | 'resume', change: Step): Promise<string> {
  const desk = new Desk(of.guard, { actor: 'bob', reason: 'ticket 8' });
  const plan = await planOf(actOf(verb), desk, CASES[verb][0]);
  await change(of);
  const refused = await performed(desk, plan).catch((error: unknown) => error);
  assert.ok(refused instanceof ConflictError);
  return refused.message;
}

void test('a refusal names no act that came before the operator began', async () => {
  const of = await bench();
  await operations(of.guard).rerun(RUN, { ...BY, force: true });
  of.clock.advance('2m');
  await setRun(of, 'failed');
  assert.match(await refusalOf(of, 'rerun', () => setRun(of, 'interrupted')), /: it is interrupted\.$/);
});

void test('a refusal of an act on a lock names no act on a run of its job', async () => {
  const of = await bench();
  await operations(of.guard).pause({ job: JOB }, { ...BY, until: '3m' });
  of.clock.advance('2m');
  const refusal = await refusalOf(of, 'resume', async () => {
    await operations(of.guard).rerun(RUN, { ...BY, force: true });
    of.clock.advance('2m');
  });
  assert.match(refusal, /^Lock 'close-day' is not paused: it is free\.$/);
});

const valuesOf = (verb: Verb): object => (verb === 'purge' ? { olderThan: '1d' } : CASES[verb][0]);

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
        call(of, verb, { ...BY, ...valuesOf(verb), ...wrong }),
        (error) => error instanceof InvalidLockConfigurationError && message.test(error.message),
        `${verb} ${Object.keys(wrong)[0]}`,
      );
  assert.deepEqual([reads.mock.callCount(), writes()], [0, 0]);
});

/** Wrong values, and how their refusals begin. */
const WRONG: (readonly [verb: Verb, values: object, message: string])[] = [
  ['run', { from: '2026-11-01' }, 'to is missing.'],
  ['run', { to: '2026-11-01' }, 'from is missing.'],
  ['run', { from: '2026-11-31', to: '2026-12-01' }, 'from is "2026-11-31"'],
  ['run', { from: '2026-11-01', to: '2026-11-02', period: PERIOD }, 'Name either a period, or a range'],
  ['run', { from: '2026-11-01', to: '2026-11-02', wait: true }, 'wait is only for a run now'],
  ['run', { within: '8d' }, 'within is "8d": it must lie between 0 and 7 days.'],
  ['skip', { period: undefined }, 'period is missing.'],
  ['purge', { olderThan: 'soon' }, 'olderThan is "soon"'],
  ['purge', { olderThan: undefined }, 'olderThan is missing.'],
  ['resolve', { as: 'done' }, 'as is "done": use completed, failed, pending.'],
  ['resolve', { as: '' }, 'as is "": use completed, failed, pending.'],
];
for (const verb of ['pause', 'resume'] as const)
  for (const values of [{ lock: JOB }, { job: undefined }])
    WRONG.push([verb, values, 'Name either a job or a lock.']);
for (const [verb, { fields }] of ACTS as ReadonlyMap<Verb, Act>) {
  WRONG.push([
    verb,
    { reson: 'a typo' },
    `Unknown option 'reson' for operations(guard).${verb}. Did you mean 'reason'?`,
  ]);
  for (const name of new Set([...Object.keys(valuesOf(verb)), ...fields.map((field) => field.name)])) {
    const isFlag = fields.some((field) => field.name === name && field.kind === 'flag');
    const wrong = isFlag ? 'yes' : 7;
    WRONG.push([
      verb,
      { [name]: wrong },
      `${name} is ${JSON.stringify(wrong)}: pass ${isFlag ? 'true or false' : 'a text'}.`,
    ]);
  }
}

void test('a wrong type or choice, an unknown option and what is missing are refused by name, in every act', async () => {
  const of = await bench();
  const writes = writesTo(of);
  for (const [verb, values, message] of WRONG)
    await assert.rejects(
      call(of, verb, { ...BY, ...valuesOf(verb), ...values }),
      (error) => error instanceof InvalidLockConfigurationError && error.message.startsWith(message),
      `${verb} ${JSON.stringify(values)}`,
    );
  assert.equal(writes(), 0);
});

void test('the record of an act has its values, and nothing else that was given with them', async () => {
  const of = await bench();
  const options = { url: 'mysql://root:secret@db/app', json: true, olderThan: '1d' };
  const desk = new Desk(of.guard, BY);
  await performed(desk, await planOf(actOf('purge'), desk, options));
  const [act] = await operations(of.guard).acts();
  assert.equal(act?.detail, '{"values":{"olderThan":"1d"}}');
});

void test('an owner that is an empty text releases no holder', async () => {
  const of = await bench();
  await held(of);
  await assert.rejects(
    operations(of.guard).release({ lock: JOB, owner: '' }, BY),
    / is held by '.+', not by ''\./,
  );
});

void test('a run that has changed since its plan is not run again, even by force', async () => {
  const of = await bench();
  await setRun(of, 'failed');
  const desk = new Desk(of.guard, BY);
  const plan = await planOf(actOf('rerun'), desk, { ...RUN, force: true });
  await operations(of.guard).rerun(RUN, BY);
  await assert.rejects(performed(desk, plan), ConflictError);
  const run = await of.guard.ledger.get({ job: JOB, periodKey: PERIOD });
  assert.equal(run?.generation, 1, 'it was run again once');
});

void test('the record of a pause that waits for its lock is renewed', async () => {
  const of = await bench();
  const job = await runningJob(of.guard, { name: 'waits', lockAtMostFor: '5h' });
  const desk = new Desk(of.guard, BY, { note: () => {} });
  const pausing = performed(desk, await planOf(actOf('pause'), desk, { lock: 'waits' }));
  await eventually(async () => (await operations(of.guard).acts()).length > 0, 'the act is recorded');
  for (let minute = 0; minute < 5; minute += 1) {
    of.clock.advance('1m');
    await turn();
  }
  const [act] = await operations(of.guard).acts();
  assert.ok(act?.leaseUntil && act.leaseUntil.getTime() > of.clock.wallMs());
  job.finish();
  await job.result;
  await pausing;
});

void test('each act returns its facts', async () => {
  const of = await bench();
  const act = operations(of.guard);
  const range = { from: PERIOD, to: '2026-11-20', ...BY };
  const { text, facts } = await act.run({ job: JOB }, range);
  const { added, ...others } = facts as { readonly added: readonly { readonly key: string }[] };
  assert.deepEqual(
    [text, added.map(({ key }) => key), others],
    ['Added 2026-11-19.', ['2026-11-19'], { job: JOB, scope: '' }],
  );
  assert.deepEqual(await act.run({ job: JOB }, range), {
    text: `No business day from ${PERIOD} to 2026-11-20 lacks a run.`,
    act: undefined,
    facts: { job: JOB, scope: '', added: [] },
  });
  const states = ({ facts: of }: ActResult) =>
    ['before', 'run'].map((name) => (Reflect.get(of, name) as Run | undefined)?.state);
  assert.deepEqual(states(await act.rerun(RUN, { ...BY, force: true })), ['completed', 'pending']);
  assert.deepEqual(states(await act.skip({ job: JOB, period: '2026-11-17' }, BY)), [undefined, 'skipped']);
  const { act: purged, ...deleted } = await act.purge({ olderThan: '1d', ...BY });
  assert.deepEqual(deleted, { text: 'Deleted 0.', facts: { deleted: 0, locks: false } });
  of.clock.advance('16m');
  const { act: forgot, ...forgotten } = await act.forget({ job: JOB }, BY);
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
  const gone: readonly (readonly [owner: string, of: object, successors: Partial<Record<string, Verb>>])[] = [
    ['guard', guard, { backfill: 'run' }],
    ['guard.locks', guard.locks, { hold: 'pause', unhold: 'resume', release: 'release', purge: 'purge' }],
    [
      'guard.ledger',
      guard.ledger,
      {
        requestRun: 'run',
        rerun: 'rerun',
        resolve: 'resolve',
        skip: 'skip',
        forget: 'forget',
        purge: 'purge',
      },
    ],
  ];
  for (const [owner, of, successors] of gone)
    for (const [name, successor] of Object.entries(successors))
      assert.throws(() => (Reflect.get(of, name) as () => void)(), {
        name: 'InvalidLockUseError',
        message: `${owner}.${name} is gone. Use operations(guard).${successor} of cronlatch/operations.`,
      });
});
