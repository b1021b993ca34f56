import assert from 'node:assert/strict';
import { ClaimLostError, LockStorageError, type JobGuard } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import type { Run } from '#cronlatch/ledger/run';
import { runEventOf } from '#cronlatch/ledger/run-store';
import { reasonOf, runningJob } from '../../support/benches/guard';
import { faultyInstance } from '../../support/faults/run-store';
import { addRuns, BY, purge } from '../../support/jobs/acts';
import { dayJob, FIRST_DAY, SECOND_DAY } from '../../support/jobs/day-job';
import { testLedger } from '../../support/stores/ledger-tests';

const failing = (): never => {
  throw new Error('no bank today');
};
const FIRST = { job: 'close-day', period: '2026-11-20' };
const SECOND = { job: 'close-day', period: '2026-11-21' };
const ONCE = { retry: { maxAttempts: 1 } };
const HOLD = { onCrash: 'hold' } as const;

async function kindsOf({ ledger }: JobGuard): Promise<string[]> {
  return (await ledger.history(FIRST_DAY)).map(({ kind }) => kind);
}

testLedger(
  'a rerun is a new generation, due at once, and the history keeps the earlier one (L-52)',
  async (place) => {
    const { guard } = place.instance();
    const { ledger } = guard;
    await assert.rejects(guard.run(dayJob(ONCE), failing), /no bank/);
    const before = await ledger.get(FIRST_DAY);
    const { text, facts } = await operations(guard).rerun(FIRST, BY);
    const rerun = await ledger.get(FIRST_DAY);
    assert.deepEqual([rerun?.state, rerun?.generation, rerun?.attempt], ['pending', 1, 0]);
    assert.match(text, /^Done\. It .+ due at 2026-11-20 04:00:0/);
    assert.deepEqual(facts, { run: rerun, before });
    assert.deepEqual(await guard.run(dayJob(ONCE), () => 'done'), { executed: true, value: 'done' });
    const run = await ledger.get(FIRST_DAY);
    assert.deepEqual([run?.state, run?.generation, run?.attempt, run?.result], ['completed', 1, 1, '"done"']);
    const [failed, again, ...more] = await ledger.history(FIRST_DAY);
    assert.deepEqual([failed?.kind, failed?.generation, failed?.attempt], ['failed', 0, 1]);
    assert.match(failed?.detail ?? '', /no bank today/);
    assert.deepEqual([again?.kind, again?.generation, again?.actor], ['rerun', 0, 'ada']);
    assert.match(again?.detail ?? '', /^wrong rates \(was failed since 2026-11-20 04:/);
    assert.deepEqual(more, []);
  },
);

testLedger(
  'the history has the order of its times, also of an event that is recorded later',
  async (place) => {
    const { guard, store } = place.instance();
    const { clock } = place;
    const at = clock.now();
    clock.advance('10s');
    await assert.rejects(guard.run(dayJob(ONCE), failing), /no bank/);
    clock.advance('10s');
    const requested = (run: Run) => ({ ...runEventOf(run, 'requested', 'the bank was late', 'ada'), at });
    await store.change(
      { ...FIRST_DAY, scope: '' },
      (found) => ({ value: 0, events: found ? [requested(found.run)] : [] }),
      {
        timeoutMs: 10_000,
      },
    );
    await operations(guard).rerun(FIRST, BY);
    assert.deepEqual(await kindsOf(guard), ['requested', 'failed', 'rerun']);
  },
);

testLedger('of two concurrent reruns one conflicts (L-52)', async (place) => {
  const [one, other] = [place.instance().guard, place.instance().guard];
  await assert.rejects(place.instance().guard.run(dayJob(ONCE), failing), /no bank/);
  const reruns = await Promise.allSettled([
    operations(one).rerun(FIRST, BY),
    operations(other).rerun(FIRST, { ...BY, actor: 'bob' }),
  ]);
  const refused = reruns.filter((rerun) => rerun.status === 'rejected');
  assert.equal(refused.length, 1);
  assert.match(String(refused[0]?.reason), /ConflictError: Cannot rerun the run .*: it is pending/);
  assert.deepEqual(await kindsOf(one), ['failed', 'rerun']);
  assert.equal((await one.ledger.get(FIRST_DAY))?.generation, 1);
});

testLedger('a completed run is rerun only with force (L-52)', async (place) => {
  const { guard } = place.instance();
  const operator = operations(guard);
  await guard.run(dayJob(), () => 'first');
  await assert.rejects(operator.rerun(FIRST, BY), /it is completed\. To rerun it anyway, pass force: true/);
  await operator.rerun(FIRST, { ...BY, force: true });
  assert.deepEqual(await guard.run(dayJob(), () => 'second'), { executed: true, value: 'second' });
  await assert.rejects(operator.rerun(SECOND, BY), /for 2026-11-21: no such run exists\. .* run JOB --from /);
});

testLedger('an act without an actor and a reason is rejected, and changes nothing (L-52)', async (place) => {
  const { guard } = place.instance();
  const operator = operations(guard);
  await assert.rejects(guard.run(dayJob(ONCE), failing), /no bank/);
  for (const [part, longest] of Object.entries({ actor: 128, reason: 500 }))
    for (const text of [undefined, '', ' ', '😀'.repeat(longest + 1), 'a\0b', 'half \ud83d of a pair']) {
      const why = `(each act needs a text of 1 to ${longest} characters|remove its control characters)`;
      const refusal = {
        name: 'InvalidLockConfigurationError',
        message: new RegExp(`^${part} is .+: ${why}\\.$`),
      };
      await assert.rejects(operator.rerun(FIRST, { ...BY, [part]: text }), refusal);
      await assert.rejects(operator.skip(SECOND, { ...BY, [part]: text }), refusal);
    }
  await operator.rerun(FIRST, { actor: '達'.repeat(128), reason: `naïve\n${'😀'.repeat(494)}` });
  assert.deepEqual(await kindsOf(guard), ['failed', 'rerun']);
});

testLedger('a run identity that lacks a part is rejected, and never matches another run', async (place) => {
  const { guard } = place.instance();
  const { ledger } = guard;
  const operator = operations(guard);
  await guard.run(dayJob({ name: 'secret' }), () => 'of another job');
  guard.wrap(dayJob(), () => {});
  // As in JavaScript when a parameter of a request is missing.
  for (const wrong of [undefined, null, '', 7, 'a\0b'] as unknown as string[]) {
    const whole = { ...FIRST_DAY, scope: '' };
    const parts: Partial<typeof whole>[] = [{ job: wrong as never }, { periodKey: wrong as never }];
    if (wrong !== undefined && (wrong as unknown) !== '') parts.push({ scope: wrong });
    for (const part of parts) {
      const name = { ...whole, ...part };
      const subject = { job: name.job, scope: name.scope, period: name.periodKey };
      const calls: (() => Promise<unknown>)[] = [
        () => ledger.get(name),
        () => ledger.history(name),
        () => operator.skip(subject, BY),
      ];
      // Without a period, they are about the newest run.
      if (subject.period)
        calls.push(
          () => operator.rerun(subject, BY),
          () => operator.resolve(subject, { ...BY, as: 'failed' }),
        );
      for (const call of calls)
        await assert.rejects(
          call,
          { name: 'InvalidLockConfigurationError' },
          `${JSON.stringify(name)} ${String(call)}`,
        );
    }
    const calls: (() => Promise<unknown>)[] = [
      () => ledger.last(wrong),
      () => ledger.gaps(wrong),
      () => ledger.explain(wrong),
      () => operator.run({ job: wrong }, { from: '2026-11-20', to: '2026-11-20', ...BY }),
      () => ledger.list({ job: wrong }),
      () => ledger.list({ periodKey: wrong }),
    ];
    for (const call of calls)
      await assert.rejects(call, /InvalidLock/, `${JSON.stringify(wrong)} ${String(call)}`);
  }
  for (const query of [{ scope: undefined }, { states: undefined }, { states: ['done'] as never }])
    await assert.rejects(ledger.list(query), { name: 'InvalidLockConfigurationError' });
  for (const query of [
    { limit: 1.5 },
    { limit: -1 },
    { order: 'newest' as never },
    { from: '2026-11-20' as never },
  ])
    await assert.rejects(ledger.list(query), { name: 'InvalidLockConfigurationError' });
  await assert.rejects(operator.rerun({ job: 'close-day' }, BY), /has no runs, so name the period\.$/);
  assert.equal((await ledger.list({ from: undefined, to: undefined })).length, 1);
  assert.equal((await ledger.list({ job: 'secret', scope: '' })).length, 1);
});

testLedger('a running run is rerun only with force, which cuts its holder off (L-53)', async (place) => {
  const { guard } = place.instance();
  const other = place.instance().guard;
  const job = await runningJob(guard, dayJob());
  const operator = operations(other);
  await assert.rejects(operator.rerun(FIRST, BY), /it is running\. .*pass force: true/);
  assert.equal((await other.ledger.get(FIRST_DAY))?.generation, 0);
  await operator.rerun(FIRST, { ...BY, force: true });
  assert.deepEqual(await kindsOf(other), ['lost', 'rerun']);
  // The holder still has the lock, so the next claim waits for it.
  assert.deepEqual(await other.run(dayJob(), () => assert.fail('ran')), {
    executed: false,
    reason: 'locked',
  });
  job.finish('the first');
  const error = await reasonOf(job.result);
  assert.ok(error instanceof ClaimLostError);
  assert.match(error.message, /its row is pending, generation 1, attempt 0/);
  assert.deepEqual(await other.run(dayJob(), () => 'the second'), { executed: true, value: 'the second' });
  assert.equal((await other.ledger.get(FIRST_DAY))?.result, '"the second"');
});

testLedger('a failure of a holder that was cut off writes nothing either (L-53)', async (place) => {
  const instance = place.instance();
  const { guard } = instance;
  const job = await runningJob(guard, dayJob());
  await operations(guard).rerun(FIRST, { ...BY, force: true });
  const mine = new Error('mine');
  job.fail(mine);
  assert.equal(await reasonOf(job.result), mine);
  assert.equal((await guard.ledger.get(FIRST_DAY))?.state, 'pending');
  assert.match(
    instance
      .of('guard:warning')
      .map(({ message }) => message)
      .join(),
    /Could not record/,
  );
});

/** A run whose holder lost its lease without noticing; another instance detects it. */
async function interrupted(place: Parameters<Parameters<typeof testLedger>[1]>[0]) {
  const [holder, other] = [place.instance(), place.instance()];
  const job = await runningJob(holder.guard, dayJob(HOLD));
  await place.elapse('2m');
  const answer = await other.guard.run(dayJob(HOLD), () => assert.fail('ran'));
  assert.deepEqual(answer, { executed: false, reason: 'interrupted' });
  return { job, other, ledger: other.guard.ledger, operator: operations(other.guard) };
}

testLedger('an interrupted run resolved as completed is not run again (L-54)', async (place) => {
  const { job, other, ledger, operator } = await interrupted(place);
  await operator.resolve(FIRST, { ...BY, as: 'completed' });
  const run = await ledger.get(FIRST_DAY);
  assert.deepEqual([run?.state, run?.reason], ['completed', 'resolved']);
  assert.equal((await other.guard.run(dayJob(HOLD), () => assert.fail('ran'))).executed, false);
  await assert.rejects(
    operator.resolve(FIRST, { ...BY, as: 'failed' }),
    /it is completed\. Only an interrupted run can be resolved\./,
  );
  job.finish();
  await job.result;
});

testLedger(
  'an interrupted run resolved as failed fails permanently, and its holder gets an error if it comes back (L-54)',
  async (place) => {
    const { job, other, ledger, operator } = await interrupted(place);
    await operator.resolve(FIRST, { ...BY, as: 'failed' });
    const answer = await other.guard.run(dayJob(HOLD), () => assert.fail('ran'));
    assert.deepEqual(answer, { executed: false, reason: 'exhausted' });
    job.finish();
    assert.ok((await reasonOf(job.result)) instanceof ClaimLostError);
    assert.equal((await ledger.get(FIRST_DAY))?.state, 'failed');
  },
);

testLedger(
  'after an interrupted run is resolved as pending, the next attempt is due at once (L-54)',
  async (place) => {
    const { job, other, ledger, operator } = await interrupted(place);
    const holder = (await ledger.get(FIRST_DAY))?.claimedBy;
    await operator.resolve(FIRST, { ...BY, as: 'pending' });
    const [lost, resolved, ...more] = await ledger.history(FIRST_DAY);
    assert.deepEqual([lost?.kind, lost?.attempt, lost?.actor], ['lost', 1, holder]);
    assert.match(lost?.detail ?? '', /the attempt had started at 2026-11-20 04:00/);
    assert.deepEqual([resolved?.kind, more], ['resolved', []]);
    assert.deepEqual(await other.guard.run(dayJob(HOLD), () => 'again'), { executed: true, value: 'again' });
    const run = await ledger.get(FIRST_DAY);
    assert.deepEqual([run?.state, run?.generation, run?.attempt], ['completed', 0, 2]);
    job.finish();
    assert.ok((await reasonOf(job.result)) instanceof ClaimLostError);
    assert.equal((await ledger.get(FIRST_DAY))?.result, '"again"');
  },
);

testLedger(
  'a holder that had not crashed completes late, and no operator has to resolve its run (L-54)',
  async (place) => {
    const { job, other, ledger } = await interrupted(place);
    const [event] = other.of('run:interrupted');
    assert.equal(event?.run?.periodKey, '2026-11-20');
    job.finish('after all');
    assert.deepEqual(await job.result, { executed: true, value: 'after all' });
    const run = await ledger.get(FIRST_DAY);
    assert.deepEqual([run?.state, run?.result], ['completed', '"after all"']);
    assert.deepEqual(await kindsOf(other.guard), ['lost', 'completed-late']);
  },
);

testLedger('only interrupted runs can be resolved (L-54)', async (place) => {
  const { guard } = place.instance();
  await assert.rejects(guard.run(dayJob(), failing), /no bank/);
  const operator = operations(guard);
  await assert.rejects(operator.resolve(FIRST, { ...BY, as: 'completed' }), /it is failed/);
  await assert.rejects(operator.resolve(SECOND, { ...BY, as: 'completed' }), /no such run exists/);
});

testLedger('an operator can skip a period before it has a run, and after it has failed', async (place) => {
  const { guard } = place.instance();
  const { ledger } = guard;
  await assert.rejects(guard.run(dayJob(), failing), /no bank/);
  const operator = operations(guard);
  await operator.skip(FIRST, BY);
  await operator.skip(SECOND, BY);
  for (const name of [FIRST_DAY, SECOND_DAY]) {
    const run = await ledger.get(name);
    assert.deepEqual([run?.state, run?.reason], ['skipped', 'operator']);
  }
  await place.elapse('1d');
  assert.deepEqual(await guard.run(dayJob(), () => assert.fail('ran')), {
    executed: false,
    reason: 'skipped',
  });
  await assert.rejects(
    operator.skip(FIRST, BY),
    /Cannot skip .*: it is skipped\. A run that is running, completed or skipped cannot be skipped\./,
  );
});

testLedger(
  'a period skipped by an instance without the job is not missed, and not caught up with',
  async (place) => {
    const job = dayJob({ catchUp: 'latest' });
    const instance = place.instance();
    const { guard } = instance;
    guard.wrap(job, () => 'done');
    await guard.run(job, () => 'done');
    await place.elapse('3d');
    // As a script does. It cannot compute when the day began.
    await operations(place.instance().guard).skip({ ...FIRST, period: '2026-11-22' }, BY);
    const gaps = await guard.ledger.gaps('close-day');
    assert.deepEqual(
      gaps.map(({ key }) => key),
      ['2026-11-21'],
    );
    assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
    assert.equal((await guard.ledger.get(SECOND_DAY))?.state, 'completed');
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    assert.deepEqual(instance.of('run:skipped'), []);
  },
);

testLedger('today runs while the skipped days cannot be read', async (place) => {
  const job = dayJob({ catchUp: 'all' });
  const instance = faultyInstance(place);
  const { guard, faulty } = instance;
  await guard.run(job, () => 'done');
  await place.elapse('2d');
  const { find } = faulty;
  const away = (): Promise<never> => Promise.reject(new LockStorageError('away', { outcome: 'nothing-ran' }));
  Object.assign(faulty, { find: away });
  assert.deepEqual(await guard.run(job, () => 'today'), { executed: true, value: 'today' });
  Object.assign(faulty, { find });
  const [warning] = instance.of('guard:warning');
  assert.match(warning?.message ?? '', /operators have skipped could not be read.*tries again/);
  assert.equal(await guard.ledger.get(SECOND_DAY), undefined);
  await guard.run(job, () => 'done');
  assert.equal((await guard.ledger.get(SECOND_DAY))?.state, 'completed');
});

const CATCH_UP = { catchUp: 'all', catchUpWindow: '3d', retry: { maxAttempts: 1 } } as const;

testLedger('a purge keeps unfinished runs and the newest run (L-55)', async (place) => {
  const { guard } = place.instance();
  const scoped = (scope: string): ReturnType<typeof dayJob> => dayJob({ scope, ...HOLD });
  await guard.run(scoped('completed'), () => 1);
  await assert.rejects(guard.run(scoped('failed'), failing), /no bank/);
  const held = place.instance();
  const job = await runningJob(held.guard, scoped('running'));
  await place.elapse('2m');
  const crashed = await runningJob(place.instance().guard, { ...scoped('interrupted'), name: 'another' });
  await place.elapse('300d');
  await guard.run(scoped('completed'), () => 2);
  const states = async (): Promise<string[]> =>
    (await guard.ledger.list({ order: 'oldest-first' }))
      .map(({ scope, state }) => `${scope} ${state}`)
      .sort();
  const before = await states();
  assert.equal(await purge(guard, '301d'), 0);
  assert.equal(await purge(guard, '200d'), 1);
  assert.deepEqual(
    await states(),
    before.filter((_, index) => index !== before.indexOf('completed completed')),
  );
  assert.equal(await purge(guard, '200d'), 0);
  for (const each of [job, crashed]) {
    each.finish();
    await each.result;
  }
});

testLedger(
  'a purge keeps every run within the longest catch-up window, and a purged day is not caught up with (L-55)',
  async (place) => {
    const { guard } = place.instance();
    const days: string[] = [];
    const job = guard.wrap(dayJob(CATCH_UP), () => void days.push('ran'));
    for (let day = 0; day < 6; day += 1) {
      await job();
      await place.elapse('1d');
    }
    assert.equal(days.length, 6);
    // Three of them ended before the start of the window.
    assert.equal(await purge(guard, '1d'), 3);
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    await job();
    assert.equal(days.length, 7);
  },
);

testLedger('only force adds a run of a purged day (L-55)', async (place) => {
  const { guard } = place.instance();
  let runs = 0;
  const job = guard.wrap(dayJob(), () => void (runs += 1));
  for (let day = 0; day < 4; day += 1) {
    await job();
    await place.elapse('1d');
  }
  assert.equal(await purge(guard, '8d'), 0);
  await place.elapse('8d');
  assert.equal(await purge(guard, '8d'), 3);
  const range = { from: '2026-11-20', to: '2026-11-23' };
  await assert.rejects(addRuns(guard, range), /Cannot add runs of .* so far back: .*force: true/);
  const added = await addRuns(guard, { ...range, force: true });
  assert.deepEqual(added, ['2026-11-20', '2026-11-21', '2026-11-22']);
  assert.deepEqual(await guard.runOverdue(), { started: 3, overdue: 0 });
  assert.equal(runs, 7);
});

testLedger(
  'a purged day is not caught up with, even if an operator skips a day afterwards (L-55)',
  async (place) => {
    const { guard } = place.instance();
    const { store } = place.instance();
    let runs = 0;
    const job = guard.wrap(dayJob({ ...CATCH_UP, catchUpWindow: '30d' }), () => void (runs += 1));
    for (let day = 0; day < 8; day += 1) {
      await job();
      await place.elapse('1d');
    }
    // The act of an operator would spare the catch-up window.
    const { deleted } = await store.purge({ olderThanMs: 2 * 86_400_000, limit: 100 }, { timeoutMs: 5000 });
    assert.equal(deleted, 6);
    await operations(guard).skip({ job: 'close-day', period: '2026-11-15' }, BY);
    assert.deepEqual(await guard.ledger.gaps('close-day'), []);
    assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
    assert.equal(runs, 8);
    const range = { from: '2026-11-18', to: '2026-11-24' };
    await assert.rejects(addRuns(guard, range), /Cannot add runs of .* so far back: .*force: true/);
    // Days that were missed after the purged days still run.
    await place.elapse('2d');
    assert.deepEqual(await guard.runOverdue(), { started: 2, overdue: 0 });
  },
);
