import assert from 'node:assert/strict';
import { FatalJobError, type JobConfiguration } from 'cronlatch';
import { closeDay, diary, failing, NO_BANK, rowsOf } from '../../support/jobs/close-day';
import type { Instance } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

const KEY = { job: 'close-day', periodKey: '2026-11-20' };

async function fails({ guard }: Instance, job: JobConfiguration, task: () => unknown): Promise<void> {
  await assert.rejects(guard.run(job, task), /no bank today/);
}

testLedger(
  'a job that fails twice and then succeeds is completed by attempt 3, and does not run again (L-25)',
  async (place) => {
    const instance = place.instance();
    const { guard } = instance;
    const { task, runs } = failing(2);
    await fails(instance, closeDay(), task);
    await place.elapse('1m');
    await fails(instance, closeDay(), task);
    await place.elapse('2m');
    assert.deepEqual(await guard.run(closeDay(), task), { executed: true, value: 'done' });
    assert.deepEqual(await guard.run(closeDay(), task), { executed: false, reason: 'already-completed' });
    assert.deepEqual(
      runs.map(({ attempt }) => attempt),
      [1, 2, 3],
    );
    const run = await guard.ledger.get(KEY);
    assert.equal(run?.state, 'completed');
    assert.equal(run.attempt, 3);
    assert.equal(run.result, '"done"');
    const history = await guard.ledger.history(KEY);
    assert.deepEqual(
      history.map(({ kind, attempt }) => [kind, attempt]),
      [
        ['failed', 1],
        ['failed', 2],
      ],
    );
  },
);

testLedger(
  'before next_attempt_at nothing runs, and no instance tries to take the lock (L-26)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = failing(1);
    const job = closeDay({ retry: { initialDelay: '10m' } });
    await fails(instance, job, task);
    await place.elapse('9m');
    assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'not-due' });
    assert.equal(instance.of('lock:acquired').length, 1);
    await place.elapse('1m1s');
    assert.deepEqual(await instance.guard.run(job, task), { executed: true, value: 'done' });
    assert.equal(runs.length, 2);
  },
);

testLedger(
  `a retry after midnight keeps yesterday's key, and today has its own run (L-27)`,
  async (place) => {
    const instance = place.instance();
    const { task, periods, runs } = failing(1);
    const job = closeDay({ retry: { initialDelay: '20m' } });
    await fails(instance, job, task);
    await place.elapse('20m1s');
    // It is 00:10 in Paris: one tick of today also runs yesterday's overdue run.
    assert.deepEqual(await instance.guard.run(job, task), { executed: true, value: 'done' });
    assert.deepEqual(periods(), ['2026-11-20', '2026-11-21', '2026-11-20']);
    assert.deepEqual(
      runs.map(({ attempt, isCatchUp }) => [attempt, isCatchUp]),
      [
        [1, false],
        [1, false],
        [2, true],
      ],
    );
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 completed', '2026-11-21 completed']);
  },
  { now: '2026-11-20T22:50:00Z' },
);

testLedger(
  `a retry that fails again after midnight spends none of today's attempts (L-27)`,
  async (place) => {
    const instance = place.instance();
    const { task, runs } = diary(({ periodKey }) => {
      if (periodKey === '2026-11-20') throw NO_BANK;
    });
    const job = closeDay({ retry: { initialDelay: '20m', maxAttempts: 2 } });
    await fails(instance, job, task);
    await place.elapse('20m1s');
    assert.equal((await instance.guard.run(job, task)).executed, true);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 failed(exhausted)', '2026-11-21 completed']);
    assert.equal(runs.length, 3);
    const [failed] = instance.of('run:failed').slice(-1);
    assert.deepEqual([failed?.run?.periodKey, failed?.run?.attempt], ['2026-11-20', 2]);
  },
  { now: '2026-11-20T22:50:00Z' },
);

testLedger(
  'a run whose retry could only start after until fails permanently at once (L-28)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = failing(9);
    const job = closeDay({ retry: { maxAttempts: 9, initialDelay: '20m', until: '30m' } });
    await fails(instance, job, task);
    await place.elapse('20m1s');
    await fails(instance, job, task);
    const run = await instance.guard.ledger.get(KEY);
    assert.deepEqual([run?.state, run?.reason, run?.nextAttemptAt], ['failed', 'until', undefined]);
    await place.elapse('2h');
    assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'exhausted' });
    assert.equal(runs.length, 2);
  },
);

testLedger(
  'if no instance claims a run before until has passed, it fails permanently without running (L-28)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = failing(9);
    const job = closeDay({ retry: { maxAttempts: 9, initialDelay: '20m', until: '30m' } });
    await fails(instance, job, task);
    await place.elapse('31m');
    assert.deepEqual(await instance.guard.run(job, task), { executed: false, reason: 'exhausted' });
    assert.equal(runs.length, 1);
    const run = await instance.guard.ledger.get(KEY);
    assert.deepEqual([run?.state, run?.reason, run?.nextAttemptAt], ['failed', 'until', undefined]);
  },
);

testLedger(
  'with period-end nothing is retried tomorrow (L-28)',
  async (place) => {
    const instance = place.instance();
    const { task, periods } = failing(1);
    const job = closeDay({ retry: { initialDelay: '20m', until: 'period-end' } });
    await fails(instance, job, task);
    assert.deepEqual(await rowsOf(instance), ['2026-11-20 failed(until)']);
    await place.elapse('20m1s');
    await instance.guard.run(job, task);
    assert.deepEqual(periods(), ['2026-11-20', '2026-11-21']);
  },
  { now: '2026-11-20T22:50:00Z' },
);

testLedger('a FatalJobError is never retried (L-29)', async (place) => {
  const instance = place.instance();
  const { task, runs } = failing(1, new FatalJobError('no bank today, or ever'));
  await fails(instance, closeDay(), task);
  await place.elapse('2h');
  assert.deepEqual(await instance.guard.run(closeDay(), task), { executed: false, reason: 'exhausted' });
  assert.equal(runs.length, 1);
  assert.equal((await instance.guard.ledger.get(KEY))?.reason, 'fatal');
  assert.deepEqual(
    instance.of('run:failed').map(({ retryAt, isFinal }) => [retryAt, isFinal]),
    [[undefined, true]],
  );
});

testLedger(
  'a lower maxAttempts after a deploy ends the retries, and nothing stays due forever (L-31)',
  async (place) => {
    const before = place.instance();
    const { task, runs } = failing(9);
    const generous = closeDay({ retry: { maxAttempts: 5 } });
    await fails(before, generous, task);
    await place.elapse('1m1s');
    await fails(before, generous, task);
    await place.elapse('1h');

    const after = place.instance();
    const strict = closeDay({ retry: { maxAttempts: 2 } });
    after.guard.wrap(strict, task);
    await after.guard.runOverdue();
    assert.deepEqual(await rowsOf(after), ['2026-11-20 failed(exhausted)']);
    assert.deepEqual(await after.guard.runOverdue(), { started: 0, overdue: 0 });
    assert.deepEqual(await after.guard.run(strict, task), { executed: false, reason: 'exhausted' });
    assert.equal(runs.length, 2);
  },
);

testLedger(
  'a higher maxAttempts after a deploy adds attempts to runs that still wait (L-31)',
  async (place) => {
    const instance = place.instance();
    const { task, runs } = failing(2);
    await fails(instance, closeDay({ retry: { maxAttempts: 2 } }), task);
    await place.elapse('1m1s');
    const generous = closeDay({ retry: { maxAttempts: 3 } });
    await fails(instance, generous, task);
    await place.elapse('1h');
    assert.equal((await instance.guard.run(generous, task)).executed, true);
    assert.equal(runs.length, 3);
  },
);

testLedger('a backoff that overflows to infinity is limited to maxDelay (L-32)', async (place) => {
  const instance = place.instance();
  const { task } = failing(9);
  const job = closeDay({
    retry: { maxAttempts: 9, initialDelay: '1m', factor: Number.MAX_VALUE, maxDelay: '2h' },
  });
  for (const minutes of [1, 120, 120, 120]) {
    await fails(instance, job, task);
    const run = await instance.guard.ledger.get(KEY);
    assert.ok(run?.nextAttemptAt && run.finishedAt);
    assert.equal(run.nextAttemptAt.getTime() - run.finishedAt.getTime(), minutes * 60_000);
    await place.elapse(`${minutes}m1s`);
  }
});
