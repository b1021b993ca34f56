/**
 * A handler that extends its lock by hand outlives the lease that cronlatch wrote into the row of its run.
 */
import assert from 'node:assert/strict';
import { currentLock, LockExtender, type JobConfiguration } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import { signal } from '../../support/benches/executor';
import { contended } from '../../support/faults/accessor';
import { faultyInstance } from '../../support/faults/run-store';
import { BY } from '../../support/jobs/acts';
import { CLOSE_DAY, closeDay, countedTask } from '../../support/jobs/close-day';
import type { Instance } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

/** The same job after a deploy that renamed its lock. */
const RENAMED: JobConfiguration = { ...closeDay({ name: 'close-day' }), name: 'close-day-2' };

/** A run that extends its lock, and then continues until the test ends it. */
async function extending({ guard }: Instance, extend: () => Promise<unknown>) {
  const extended = signal();
  const end = signal();
  const running = guard.run(closeDay(), async () => {
    await extend();
    extended.resolve();
    await end.promise;
    return 'done';
  });
  await Promise.race([extended.promise, running]);
  return { running, end: () => end.resolve() };
}

const byTenMinutes = (): Promise<boolean> => LockExtender.extendActiveLock('10m');

testLedger('under a renamed lock, a live run that extended its lock is not doubled (L-60)', async (place) => {
  const { running, end } = await extending(place.instance(), byTenMinutes);
  await place.elapse('9m');
  const { guard } = place.instance();
  const { task, runs } = countedTask();
  assert.deepEqual(await guard.run(RENAMED, task), { executed: false, reason: 'running-elsewhere' });
  end();
  assert.deepEqual(await running, { executed: true, value: 'done' });
  assert.equal(runs(), 0);
});

testLedger('after the extension has expired, another instance takes the run over (L-60)', async (place) => {
  await extending(place.instance(), byTenMinutes);
  await place.elapse('601s');
  const { guard } = place.instance();
  assert.deepEqual(await guard.run(RENAMED, () => 'again'), { executed: true, value: 'again' });
  assert.equal((await guard.ledger.get(CLOSE_DAY))?.attempt, 2);
});

testLedger('an extension that ends before the lease in the row sends no statement', async (place) => {
  const instance = faultyInstance(place);
  const { running, end } = await extending(instance, async () => {
    assert.equal(await currentLock().extend('30s'), true);
  });
  end();
  await running;
  assert.deepEqual(instance.faulty.calls, ['peek', 'insert', 'complete']);
});

testLedger('an extension whose row cannot be updated still holds the lock, with a warning', async (place) => {
  const instance = faultyInstance(place);
  instance.faulty.fail('change', contended);
  const { running, end } = await extending(instance, async () => {
    assert.equal(await byTenMinutes(), true);
  });
  end();
  assert.deepEqual(await running, { executed: true, value: 'done' });
  const [warning] = instance.of('guard:warning');
  assert.match(
    warning?.message ?? '',
    /^Could not record the extension of lock 'close-day' in the row of the run/,
  );
});

testLedger('a holder that lost its run does not extend the row of the new holder', async (place) => {
  const instance = place.instance();
  const operator = place.instance().guard;
  const { running, end } = await extending(instance, async () => {
    await operations(operator).rerun({ job: 'close-day' }, { ...BY, force: true });
    assert.equal(await byTenMinutes(), true);
  });
  const run = await operator.ledger.get(CLOSE_DAY);
  assert.deepEqual([run?.state, run?.generation], ['pending', 1]);
  end();
  await assert.rejects(running, { code: 'CRONLATCH_CLAIM_LOST' });
  assert.match(
    instance.of('guard:warning')[0]?.message ?? '',
    /^Could not record the extension of lock 'close-day'/,
  );
});
