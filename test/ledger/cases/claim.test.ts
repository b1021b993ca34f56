import assert from 'node:assert/strict';
import { ClaimLostError, StorageBasedLockProvider, systemClock } from 'cronlatch';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-storage-accessor';
import { CLOSE_DAY, closeDay, countedTask, heldTask } from '../../support/close-day';
import { faultyInstance, HeldStatement } from '../../support/faulty-run-store';
import type { Instance, LedgerPlace } from '../../support/ledger-place';
import { testLedger } from '../../support/test-ledger';

/** Tokens of an empty lock table begin with the time: one from then on is lower than any that was given out before. */
const LONG_AGO = '2000-01-01T00:00:00Z';
const LATER = '2100-01-01T00:00:00Z';

/** An instance that finds the lock table empty: every lock is free. */
function withEmptyLockTable(place: LedgerPlace, tableTime: string): Instance {
  const { id } = place.instance().lockProvider;
  const clock = new SettableClock(tableTime);
  const lockProvider = new StorageBasedLockProvider(new InMemoryStorageAccessor(clock), { clock, id });
  return place.instance({ lockProvider });
}

const DUE_AT_ONCE = closeDay({ retry: { minDelay: 0 } });

function noBank(): never {
  throw new Error('no bank today');
}

testLedger('L-01 of 50 claimers of a fresh key, each under a lock of its own, one wins', async (place) => {
  // Contention passes in real time; what period it is about does not depend on it.
  const instances = Array.from({ length: 5 }, () => place.instance({ clock: systemClock }));
  const winner = heldTask();
  let answered = 0;
  const claims = Array.from({ length: 50 }, async (_, index) => {
    const configuration = {
      ...closeDay({ name: 'close-day' }),
      name: `lock-${index}`,
      at: place.clock.now(),
    };
    const result = await instances[index % 5]!.guard.run(configuration, winner.task);
    answered += 1;
    // The winner goes on until everybody else has been refused.
    if (answered === 49) winner.end();
    return result;
  });
  const results = await Promise.all(claims);
  assert.equal(results.filter(({ executed }) => executed).length, 1);
  const refused = results.filter((result) => !result.executed && result.reason === 'running-elsewhere');
  assert.equal(refused.length, 49);
  const run = await instances[0]!.guard.ledger.get(CLOSE_DAY);
  assert.deepEqual([run?.state, run?.attempt, run?.generation], ['completed', 1, 0]);
});

testLedger(
  'L-03 with the lock table and its clock set back in mid-run, a second scheduler is refused',
  async (place) => {
    const first = place.instance();
    const second = withEmptyLockTable(place, LONG_AGO);
    const { task, started, end } = heldTask();
    const running = first.guard.run(closeDay(), task);
    await started;
    const again = countedTask();
    assert.deepEqual(await second.guard.run(closeDay(), again.task), {
      executed: false,
      reason: 'running-elsewhere',
    });
    end();
    assert.deepEqual(await running, { executed: true, value: 'done' });
    assert.deepEqual(await second.guard.run(closeDay(), again.task), {
      executed: false,
      reason: 'already-completed',
    });
    assert.equal(again.runs(), 0);
  },
);

testLedger('L-03 with the lock table emptied in mid-run, two may run, and one completes', async (place) => {
  // It cannot be told from a holder that vanished: its token is a later one, of the same lock.
  const second = withEmptyLockTable(place, LATER);
  const { task, started, end } = heldTask();
  const running = place.instance().guard.run(closeDay(), task);
  await started;
  assert.deepEqual(await second.guard.run(closeDay(), () => 'second'), { executed: true, value: 'second' });
  end();
  await assert.rejects(running, (error) => {
    assert.ok(error instanceof ClaimLostError);
    assert.match(error.message, /it stands as completed, generation 0, attempt 2/);
    return true;
  });
  const run = await second.guard.ledger.get(CLOSE_DAY);
  assert.deepEqual([run?.state, run?.attempt, run?.result], ['completed', 2, '"second"']);
});

testLedger('L-04 a holder whose lease ended before its claim arrived is refused', async (place) => {
  for (const others of ['running', 'failed', 'completed'] as const) {
    const key = { ...CLOSE_DAY, job: others };
    const configuration = { ...DUE_AT_ONCE, name: others };
    const stale = faultyInstance(place);
    const late = new HeldStatement();
    stale.faulty.fail('insert', late.waitedFor);
    const { task, runs } = countedTask();
    const claiming = stale.guard.run(configuration, task);
    await late.sent;
    await place.elapse('61s');

    const next = place.instance();
    const held = heldTask(others === 'failed' ? noBank : undefined);
    const running = next.guard.run(configuration, held.task).catch(String);
    await held.started;
    if (others !== 'running') {
      held.end();
      await running;
    }
    await late.arrive();
    const reason = others === 'completed' ? 'already-completed' : 'running-elsewhere';
    assert.deepEqual(await claiming, { executed: false, reason });
    assert.equal(runs(), 0);
    const row = await next.guard.ledger.get(key);
    assert.deepEqual([row?.state, row?.attempt], [others, 1]);
  }
});

testLedger(
  'L-05 a lower token is refused until lease_until has passed, for a run that is due',
  async (place) => {
    const first = place.instance();
    await assert.rejects(first.guard.run(DUE_AT_ONCE, noBank), /no bank today/);
    const { guard } = withEmptyLockTable(place, LONG_AGO);
    const { task } = countedTask();
    assert.deepEqual(await guard.run(DUE_AT_ONCE, task), { executed: false, reason: 'running-elsewhere' });
    await place.elapse('50s');
    assert.deepEqual(await guard.run(DUE_AT_ONCE, task), { executed: false, reason: 'running-elsewhere' });
    await place.elapse('11s');
    assert.deepEqual(await guard.run(DUE_AT_ONCE, task), { executed: true, value: 'done' });
    assert.equal((await guard.ledger.get(CLOSE_DAY))?.attempt, 2);
  },
);

testLedger(
  'L-05 a lower token is refused until lease_until has passed, for a run that runs',
  async (place) => {
    const { task: vanishing, started } = heldTask();
    void place.instance().guard.run(closeDay(), vanishing);
    await started;
    const { guard } = withEmptyLockTable(place, LONG_AGO);
    const { task } = countedTask();
    assert.deepEqual(await guard.run(closeDay(), task), { executed: false, reason: 'running-elsewhere' });
    await place.elapse('61s');
    assert.deepEqual(await guard.run(closeDay(), task), { executed: true, value: 'done' });
    assert.equal((await guard.ledger.get(CLOSE_DAY))?.attempt, 2);
  },
);
