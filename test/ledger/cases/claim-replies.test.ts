import assert from 'node:assert/strict';
import { currentRun, LockLostError, LockStorageError } from 'cronlatch';
import { operations } from 'cronlatch/operations';
import {
  contended,
  delayedBy,
  refusedConnection,
  replyLost,
  sendingLost,
} from '../../support/faults/accessor';
import { faultyInstance, HeldStatement } from '../../support/faults/run-store';
import { BY } from '../../support/jobs/acts';
import { CLOSE_DAY, closeDay, countedTask } from '../../support/jobs/close-day';
import type { Instance } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

const DUE_AT_ONCE = closeDay({ retry: { initialDelay: 0 } });

async function failOnce({ guard }: Instance): Promise<void> {
  const noBank = (): never => {
    throw new Error('no bank today');
  };
  await assert.rejects(guard.run(DUE_AT_ONCE, noBank), /no bank today/);
}

async function assertStands(
  { guard }: Instance,
  state: string,
  attempt: number,
  history: readonly string[] = [],
): Promise<void> {
  const run = await guard.ledger.get(CLOSE_DAY);
  assert.deepEqual([run?.state, run?.attempt], [state, attempt]);
  const events = await guard.ledger.history(CLOSE_DAY);
  assert.deepEqual(
    events.map(({ kind }) => kind),
    history,
  );
}

function storageError(outcome: LockStorageError['outcome']) {
  return (error: unknown): boolean => error instanceof LockStorageError && error.outcome === outcome;
}

for (const [number, fault, cut] of [
  ['L-06', replyLost, 'after its commit, before the reply'],
  ['L-07', sendingLost, 'before its commit'],
  ['L-09', contended, 'by a deadlock'],
] as const) {
  testLedger(`${number} a first claim interrupted ${cut} starts the run once`, async (place) => {
    const instance = faultyInstance(place);
    const { task, runs } = countedTask();
    instance.faulty.fail('insert', fault);
    assert.deepEqual(await instance.guard.run(closeDay(), task), { executed: true, value: 'done' });
    assert.equal(runs(), 1);
    await assertStands(instance, 'completed', 1);
    const inserts = instance.faulty.calls.filter((call) => call === 'insert').length;
    assert.equal(inserts, fault === replyLost ? 1 : 2, 'cronlatch reads the row to learn who holds the run');
  });

  testLedger(`${number} a second claim interrupted ${cut} counts as one attempt`, async (place) => {
    const instance = faultyInstance(place);
    await failOnce(instance);
    const { task, runs } = countedTask();
    instance.faulty.fail('change', fault, fault);
    assert.deepEqual(await instance.guard.run(DUE_AT_ONCE, task), { executed: true, value: 'done' });
    assert.equal(runs(), 1);
    await assertStands(instance, 'completed', 2, ['failed']);
  });

  testLedger(`${number} a completion interrupted ${cut} is recorded`, async (place) => {
    const instance = faultyInstance(place);
    const { task, runs } = countedTask();
    instance.faulty.fail('complete', fault);
    instance.faulty.fail('change', fault);
    assert.deepEqual(await instance.guard.run(closeDay(), task), { executed: true, value: 'done' });
    assert.deepEqual(await instance.guard.run(closeDay(), task), {
      executed: false,
      reason: 'already-completed',
    });
    assert.equal(runs(), 1);
    await assertStands(instance, 'completed', 1);
  });

  testLedger(`${number} a failure whose record is interrupted ${cut} is recorded once`, async (place) => {
    const instance = faultyInstance(place);
    instance.faulty.fail('change', fault);
    await failOnce(instance);
    await assertStands(instance, 'failed', 1, ['failed']);
    assert.deepEqual(instance.of('guard:warning'), []);
  });
}

for (const [decided, decide, stands] of [
  ['given back', () => currentRun().giveBack(), { state: 'pending', attempt: 0, kind: 'given-back' }],
  [
    'skipped by the job',
    () => currentRun().skip('no sales'),
    { state: 'skipped', attempt: 1, kind: 'skipped' },
  ],
] as const) {
  testLedger(
    `a run that is ${decided} stays so if the reply to the statement is lost (L-06)`,
    async (place) => {
      const instance = faultyInstance(place);
      instance.faulty.fail('change', replyLost);
      assert.deepEqual(await instance.guard.run(closeDay(), decide), { executed: true, value: undefined });
      await assertStands(instance, stands.state, stands.attempt, [stands.kind]);
    },
  );
}

testLedger(
  'a claim that was never sent starts nothing, and the next tick starts the run (L-07)',
  async (place) => {
    const instance = faultyInstance(place);
    const { task, runs } = countedTask();
    instance.faulty.fail('insert', refusedConnection);
    await assert.rejects(instance.guard.run(closeDay(), task), storageError('nothing-ran'));
    assert.equal(runs(), 0);
    assert.equal(await instance.guard.ledger.get(CLOSE_DAY), undefined);
    assert.equal(instance.of('lock:failed').length, 1);
    assert.deepEqual(await instance.guard.run(closeDay(), task), { executed: true, value: 'done' });
  },
);

testLedger(
  'a claim that keeps conflicting with others fails with a contention error and starts nothing (L-09)',
  async (place) => {
    const instance = faultyInstance(place);
    const { task, runs } = countedTask();
    instance.faulty.fail('insert', contended);
    instance.faulty.fail('change', ...Array<typeof contended>(5).fill(contended));
    await assert.rejects(instance.guard.run(closeDay(), task), storageError('contention'));
    assert.deepEqual(instance.faulty.calls, ['peek', 'insert', ...Array<string>(5).fill('change')]);
    assert.equal(runs(), 0);
    assert.deepEqual(await instance.guard.run(closeDay(), task), { executed: true, value: 'done' });
  },
);

testLedger(
  'an insert that arrives while cronlatch retries it is recognised as its own (L-08)',
  async (place) => {
    const instance = faultyInstance(place);
    const late = new HeldStatement();
    instance.faulty.fail(
      'insert',
      late.givenUp,
      delayedBy(async () => void (await late.arrive())),
    );
    const { task, runs } = countedTask();
    assert.deepEqual(await instance.guard.run(closeDay(), task), { executed: true, value: 'done' });
    assert.equal(runs(), 1);
    await assertStands(instance, 'completed', 1);
  },
);

testLedger('an insert that arrives after its retry succeeded changes nothing (L-08)', async (place) => {
  const instance = faultyInstance(place);
  const late = new HeldStatement();
  instance.faulty.fail('insert', late.givenUp);
  const { task, runs } = countedTask();
  await instance.guard.run(closeDay(), task);
  assert.equal(await late.arrive(), false);
  assert.equal(runs(), 1);
  await assertStands(instance, 'completed', 1);
});

testLedger('a completion that arrives late changes nothing (L-08)', async (place) => {
  const instance = faultyInstance(place);
  const late = new HeldStatement();
  instance.faulty.fail('complete', late.givenUp);
  await instance.guard.run(closeDay(), () => 'done');
  const { finishedAt, updatedAt } = (await instance.guard.ledger.get(CLOSE_DAY)) ?? {};
  await operations(instance.guard).rerun({ job: 'close-day' }, { ...BY, force: true });
  assert.ok(finishedAt !== undefined && updatedAt !== undefined);
  assert.equal(await late.arrive(), false);
  await assertStands(instance, 'pending', 0, ['rerun']);
});

testLedger(
  'a claim that took longer than the lease is given back, without spending an attempt (L-08)',
  async (place) => {
    const instance = faultyInstance(place);
    const late = new HeldStatement();
    instance.faulty.fail('insert', late.waitedFor);
    const { task, runs } = countedTask();
    const running = instance.guard.run(closeDay(), task);
    await late.sent;
    await place.elapse('61s');
    await Promise.all([assert.rejects(running, LockLostError), late.arrive()]);
    assert.equal(runs(), 0);
    await assertStands(instance, 'pending', 0, ['given-back']);
    assert.deepEqual(await place.instance().guard.run(closeDay(), task), { executed: true, value: 'done' });
    await assertStands(instance, 'completed', 1, ['given-back']);
  },
);

testLedger(
  'a claim whose guard asks its jobs to stop meanwhile is given back, without spending an attempt',
  async (place) => {
    const instance = faultyInstance(place);
    const late = new HeldStatement();
    instance.faulty.fail('insert', late.waitedFor);
    const { task, runs } = countedTask();
    const running = instance.guard.run(closeDay(), task);
    await late.sent;
    const closed = instance.guard.close({ timeout: '20s', grace: '5s' });
    await place.elapse('15s');
    await Promise.all([assert.rejects(running, { name: 'AbortError' }), late.arrive()]);
    await closed;
    assert.equal(runs(), 0);
    const other = place.instance();
    await assertStands(other, 'pending', 0, ['given-back']);
    assert.deepEqual(await other.guard.run(closeDay(), task), { executed: true, value: 'done' });
    await assertStands(other, 'completed', 1, ['given-back']);
  },
);

for (const onCrash of ['hold', 'retry'] as const)
  for (const isLate of [true, false])
    testLedger(
      `with ${onCrash} a claim that ${isLate ? 'arrives after its timeout' : 'has no answer'} is not an attempt, because the handler never started (L-08)`,
      async (place) => {
        const instance = faultyInstance(place);
        const job = closeDay({ onCrash, retry: { maxAttempts: 1 } });
        const held = new HeldStatement();
        const { task, runs } = countedTask();
        const away = Array.from({ length: 8 }, () => refusedConnection);
        instance.faulty.fail('insert', isLate ? held.givenUp : replyLost);
        instance.faulty.fail('change', ...away);
        await assert.rejects(instance.guard.run(job, task), storageError('unknown'));
        assert.equal(runs(), 0);
        if (isLate) assert.equal(await held.arrive(), false, 'the row of the period exists already');
        await assertStands(instance, 'pending', 0, isLate ? [] : ['given-back']);
        await place.elapse('2m');
        const other = place.instance();
        assert.deepEqual(await other.guard.run(job, task), { executed: true, value: 'done' });
        await assertStands(other, 'completed', 1, isLate ? [] : ['given-back']);
      },
    );
