import assert from 'node:assert/strict';
import { ClaimLostError, currentRun, type JobConfiguration, type OncePerConfiguration } from 'cronlatch';
import { eventually } from '../../support/clocks/eventually';
import { CLOSE_DAY, closeDay, countedTask, heldTask, stoppedBy } from '../../support/jobs/close-day';
import type { LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

/** Claims the run, and then crashes. */
async function crashHolder(place: LedgerPlace, configuration: JobConfiguration = closeDay()): Promise<void> {
  const { task, started } = heldTask();
  void place.instance().guard.run(configuration, task);
  await started;
}

testLedger('the next holder runs attempt 2 of a crashed run, without a tick (L-15)', async (place) => {
  await crashHolder(place);
  const next = place.instance();
  const { task, runs } = countedTask();
  next.guard.wrap(closeDay(), task);
  await place.elapse('59s');
  assert.deepEqual(await next.guard.runOverdue(), { started: 0, overdue: 0 });
  await place.elapse('1s');
  assert.deepEqual(await next.guard.runOverdue(), { started: 1, overdue: 0 });
  assert.equal(runs(), 1);
  const run = await next.guard.ledger.get(CLOSE_DAY);
  assert.deepEqual([run?.state, run?.attempt], ['completed', 2]);
  const [takenOver] = next.of('run:takenOver');
  assert.deepEqual([takenOver?.run?.attempt, takenOver?.lostAttempt], [2, 1]);
  const [lost] = await next.guard.ledger.history(CLOSE_DAY);
  assert.deepEqual([lost?.kind, lost?.attempt, lost?.actor], ['lost', 1, takenOver?.lostClaim]);
});

testLedger(
  'the timer restarts a crashed run within lockAtMostFor and a minute, even after midnight (L-15)',
  async (place) => {
    await crashHolder(place);
    const next = place.instance({ pollInterval: '1m' });
    const dates: string[] = [];
    next.guard.wrap(closeDay(), () => void dates.push(currentRun().businessDate));
    await place.elapse('61s');
    await eventually(() => next.of('run:completed').length > 0, 'the run is completed');
    assert.deepEqual(dates, ['2026-11-20']);
    const run = await next.guard.ledger.get(CLOSE_DAY);
    assert.deepEqual([run?.state, run?.attempt], ['completed', 2]);
  },
  { now: '2026-11-20T22:59:30Z' },
);

testLedger(
  "the next tick of a later day runs yesterday's crashed run together with its own (L-15)",
  async (place) => {
    await crashHolder(place);
    await place.elapse('1d');
    const { guard } = place.instance();
    const { task, runs } = countedTask();
    assert.deepEqual(await guard.run(closeDay(), task), { executed: true, value: 'done' });
    assert.equal(runs(), 2);
    const states = (await guard.ledger.list({ job: 'close-day' })).map((run) => [run.periodKey, run.attempt]);
    assert.deepEqual(states, [
      ['2026-11-21', 1],
      ['2026-11-20', 2],
    ]);
  },
);

testLedger('with hold a crashed run waits for an operator, and nothing else waits (L-16)', async (place) => {
  const hold = closeDay({ onCrash: 'hold' });
  await crashHolder(place, hold);
  const next = place.instance({ pollInterval: '1m' });
  const { task, runs } = countedTask();
  next.guard.wrap(hold, task);
  await place.elapse('61s');
  await eventually(() => next.of('run:interrupted').length > 0, 'the run is interrupted');
  await place.elapse('1h');
  assert.deepEqual(await next.guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(await next.guard.run(hold, task), { executed: false, reason: 'interrupted' });
  assert.equal(runs(), 0);
  const run = await next.guard.ledger.get(CLOSE_DAY);
  assert.deepEqual([run?.state, run?.attempt, run?.reason], ['interrupted', 1, 'lease-ended']);
  assert.deepEqual(
    (await next.guard.ledger.history(CLOSE_DAY)).map(({ kind, attempt }) => [kind, attempt]),
    [['lost', 1]],
  );
  assert.equal(next.of('run:interrupted').length, 1);
});

testLedger('a holder that was only suspended completes its interrupted run (L-16)', async (place) => {
  const hold = closeDay({ onCrash: 'hold' });
  const { task, started, end } = heldTask();
  const running = place.instance().guard.run(hold, task);
  await started;
  await place.elapse('61s');
  const { guard } = place.instance();
  assert.deepEqual(await guard.run(hold, task), { executed: false, reason: 'interrupted' });
  end();
  assert.deepEqual(await running, { executed: true, value: 'done' });
  assert.equal((await guard.ledger.get(CLOSE_DAY))?.state, 'completed');
  const history = await guard.ledger.history(CLOSE_DAY);
  assert.deepEqual(
    history.map(({ kind }) => kind),
    ['lost', 'completed-late'],
  );
});

testLedger(
  'a job that always kills its process fails permanently after maxAttempts (L-22)',
  async (place) => {
    for (let attempt = 1; attempt <= 3; attempt += 1) {
      await crashHolder(place);
      await place.elapse('61s');
    }
    const next = place.instance();
    const { task, runs } = countedTask();
    next.guard.wrap(closeDay(), task);
    await next.guard.runOverdue();
    const run = await next.guard.ledger.get(CLOSE_DAY);
    assert.deepEqual(
      [run?.state, run?.reason, run?.attempt, run?.nextAttemptAt],
      ['failed', 'lease-ended', 3, undefined],
    );
    const [failed] = next.of('run:failed');
    assert.ok(failed?.error instanceof ClaimLostError && failed.isFinal);
    assert.match(failed.error.message, /attempt 3 .* no attempt is left/);

    await place.elapse('1h');
    assert.deepEqual(await next.guard.runOverdue(), { started: 0, overdue: 0 });
    assert.deepEqual(await next.guard.run(closeDay(), task), { executed: false, reason: 'exhausted' });
    assert.equal(runs(), 0);
    const history = await next.guard.ledger.history(CLOSE_DAY);
    assert.deepEqual(
      history.map(({ kind, attempt }) => [kind, attempt]),
      [
        ['lost', 1],
        ['lost', 2],
        ['lost', 3],
      ],
    );
  },
);

testLedger(
  'a run that is given back is due at once, and its attempt does not count (L-23)',
  async (place) => {
    const once = closeDay({ retry: { maxAttempts: 1 } });
    const leaving = place.instance();
    await leaving.guard.run(once, () => currentRun().giveBack());
    const [skipped] = leaving.of('run:skipped');
    assert.equal(skipped?.reason, 'given-back');
    const next = place.instance();
    const { task, runs } = countedTask();
    next.guard.wrap(once, task);
    assert.deepEqual(await next.guard.runOverdue(), { started: 1, overdue: 0 });
    assert.equal(runs(), 1);
    const run = await next.guard.ledger.get(CLOSE_DAY);
    assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
  },
);

const caused = (cause: unknown): Error => new Error('stopped', { cause });

for (const [what, rejection] of [
  ['its abort', undefined],
  ['an error that its abort has caused', (reason: unknown) => caused(caused(reason))],
] as const)
  testLedger(
    `a run whose handler rejects with ${what} when its guard closes is given back: it is due at once, and its attempt does not count (L-23)`,
    async (place) => {
      const job = closeDay({ retry: { maxAttempts: 1 }, startDeadline: '1h' });
      for (const token of [1, 2, 3]) {
        const leaving = place.instance();
        await stoppedBy(leaving.guard, job, rejection);
        assert.equal(leaving.of('run:givenBack').length, 1, `instance ${token}`);
        assert.deepEqual([...leaving.of('run:failed'), ...leaving.of('run:skipped')], []);
        // It has met its startDeadline before.
        await place.elapse('1h');
      }
      const next = place.instance();
      const { task, runs } = countedTask();
      next.guard.wrap(job, task);
      assert.deepEqual(await next.guard.runOverdue(), { started: 1, overdue: 0 });
      assert.equal(runs(), 1);
      const run = await next.guard.ledger.get(CLOSE_DAY);
      assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
      const history = await next.guard.ledger.history(CLOSE_DAY);
      assert.deepEqual(
        history.map(({ kind, attempt }) => [kind, attempt]),
        [1, 2, 3].map(() => ['given-back', 1]),
      );
    },
  );

testLedger(
  'retry.until goes on counting after a closing guard has given a run back (L-28)',
  async (place) => {
    const job = closeDay({ retry: { until: '2h' } });
    await stoppedBy(place.instance().guard, job);
    await place.elapse('2h');
    const next = place.instance();
    const { task, runs } = countedTask();
    assert.deepEqual(await next.guard.run(job, task), { executed: false, reason: 'exhausted' });
    assert.equal(runs(), 0);
  },
);

/** What does not give a run back when its guard closes. */
const NOT_GIVEN_BACK: readonly [string, OncePerConfiguration, (reason: unknown) => unknown][] = [
  ['rejects with another error', closeDay().oncePer, () => new Error('half done')],
  ['rejects with an abort of its own', closeDay().oncePer, () => new DOMException('mine', 'AbortError')],
  ['rejects with undefined', closeDay().oncePer, () => undefined],
  [
    "rejects with its abort, but has onCrash 'hold'",
    closeDay({ onCrash: 'hold' }).oncePer,
    (reason) => reason,
  ],
];

for (const [what, oncePer, rejection] of NOT_GIVEN_BACK)
  testLedger(`a run whose handler ${what} when its guard closes has failed (L-25)`, async (place) => {
    const leaving = place.instance();
    await stoppedBy(leaving.guard, { ...closeDay(), oncePer }, rejection);
    assert.equal(leaving.of('run:failed').length, 1);
    const run = await place.instance().guard.ledger.get(CLOSE_DAY);
    assert.deepEqual([run?.state, run?.attempt], ['failed', 1]);
  });

testLedger(
  'a completion after lockAtMostFor counts if no other instance took the run over (L-24)',
  async (place) => {
    const { task, started, end } = heldTask();
    const holder = place.instance();
    const running = holder.guard.run(closeDay(), task);
    await started;
    await place.elapse('10m');
    end();
    assert.deepEqual(await running, { executed: true, value: 'done' });
    assert.deepEqual(await place.instance().guard.run(closeDay(), () => 'again'), {
      executed: false,
      reason: 'already-completed',
    });
    const run = await holder.guard.ledger.get(CLOSE_DAY);
    assert.deepEqual([run?.state, run?.attempt], ['completed', 1]);
  },
);

testLedger(
  'a completion after lockAtMostFor throws if another instance took the run over (L-24)',
  async (place) => {
    const { task, started, end } = heldTask();
    const late = place.instance();
    const running = late.guard.run(closeDay(), task);
    await started;
    await place.elapse('61s');
    const { guard } = place.instance();
    assert.deepEqual(await guard.run(closeDay(), () => 'second'), { executed: true, value: 'second' });
    end();
    await assert.rejects(running, ClaimLostError);
    const run = await guard.ledger.get(CLOSE_DAY);
    assert.deepEqual([run?.state, run?.attempt, run?.result], ['completed', 2, '"second"']);
  },
);
