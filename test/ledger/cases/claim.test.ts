// More of this subject: ledger/model, ledger/tick, chaos/simulation/ledger, faults/ledger/cases, faults/storage/sql/row-locks.test.ts
import assert from 'node:assert/strict';
import { ClaimLostError, LockLostError, type Duration, type Lock } from 'cronlatch';
import { StorageBasedLockProvider, systemClock, type LockProvider } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { InMemoryStorageAccessor } from '#cronlatch/storage/memory/in-memory-lock-provider';
import { contended } from '../../support/faults/accessor';
import { faultyInstance, HeldStatement } from '../../support/faults/run-store';
import { CLOSE_DAY, closeDay, countedTask, heldTask } from '../../support/jobs/close-day';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { testLedger } from '../../support/stores/ledger-tests';

/**
 * The tokens of an empty lock table begin at the current time, so a grant at this time has a lower token than
 * all earlier grants.
 */
const LONG_AGO = '2000-01-01T00:00:00Z';
const LATER = '2100-01-01T00:00:00Z';

/** An instance that uses an empty lock table, in which every lock is free. */
async function withEmptyLockTable(place: LedgerPlace, tableTime: string): Promise<Instance> {
  const { lockProvider: known } = place.instance();
  await known.lock({ name: 'any', lockAtMostFor: '1m' }); // The first lock names the place.
  const { id } = known;
  const clock = new SettableClock(tableTime);
  const lockProvider = new StorageBasedLockProvider(new InMemoryStorageAccessor(clock), { clock, id });
  return place.instance({ lockProvider });
}

const DUE_AT_ONCE = closeDay({ retry: { initialDelay: 0 } });

function noBank(): never {
  throw new Error('no bank today');
}

testLedger(
  'of 50 instances that claim a new key, each under its own lock, one wins (L-01)',
  async (place) => {
    // Contention happens in real time; the period does not depend on it.
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
      // The winner runs until all others have been refused.
      if (answered === 49) winner.end();
      return result;
    });
    const results = await Promise.all(claims);
    assert.equal(results.filter(({ executed }) => executed).length, 1);
    const refused = results.filter((result) => !result.executed && result.reason === 'running-elsewhere');
    assert.equal(refused.length, 49);
    const run = await instances[0]!.guard.ledger.get(CLOSE_DAY);
    assert.deepEqual([run?.state, run?.attempt, run?.generation], ['completed', 1, 0]);
  },
);

testLedger(
  'if the lock table and its clock are set back during a run, a second scheduler is refused (L-03)',
  async (place) => {
    const first = place.instance();
    const second = await withEmptyLockTable(place, LONG_AGO);
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

testLedger(
  'if the lock table is emptied during a run, two may run, and one completes (L-03)',
  async (place) => {
    // cronlatch cannot distinguish it from a crashed holder: the second has a later token of the same lock.
    const second = await withEmptyLockTable(place, LATER);
    const { task, started, end } = heldTask();
    const running = place.instance().guard.run(closeDay(), task);
    await started;
    assert.deepEqual(await second.guard.run(closeDay(), () => 'second'), { executed: true, value: 'second' });
    end();
    await assert.rejects(running, (error) => {
      assert.ok(error instanceof ClaimLostError);
      assert.match(error.message, /its row is completed, generation 0, attempt 2/);
      return true;
    });
    const run = await second.guard.ledger.get(CLOSE_DAY);
    assert.deepEqual([run?.state, run?.attempt, run?.result], ['completed', 2, '"second"']);
  },
);

testLedger('a holder whose lease expired before its claim arrived starts nothing (L-04)', async (place) => {
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
    await assert.rejects(claiming, LockLostError);
    assert.equal(runs(), 0);
    const row = await next.guard.ledger.get(key);
    assert.deepEqual([row?.state, row?.attempt], [others, 1]);
  }
});

/** As on a lock table of four columns. */
function withoutTokens(provider: LockProvider): LockProvider {
  return {
    get id() {
      return provider.id;
    },
    async lock(configuration, observer) {
      const lock = await provider.lock(configuration, observer);
      return lock && new LockWithoutToken(lock);
    },
  };
}

class LockWithoutToken implements Lock {
  readonly name: string;
  readonly fencingToken = undefined;

  constructor(private readonly lock: Lock) {
    this.name = lock.name;
  }

  get signal(): AbortSignal {
    return this.lock.signal;
  }

  readonly remainingMs = (): number => this.lock.remainingMs();
  readonly unlock = (): Promise<boolean> => this.lock.unlock();
  readonly extend = (lockAtMostFor: Duration): Promise<boolean> => this.lock.extend(lockAtMostFor);
  readonly [Symbol.asyncDispose] = (): PromiseLike<void> => this.lock[Symbol.asyncDispose]();
}

for (const statement of ['insert', 'change'] as const) {
  testLedger(
    `without tokens, a claim whose ${statement} arrived after its lease does not take over a live run (L-04)`,
    async (place) => {
      const instance = place.instance();
      if (statement === 'change') await assert.rejects(instance.guard.run(DUE_AT_ONCE, noBank));
      const lockProvider = withoutTokens(instance.lockProvider);
      const stale = faultyInstance(place, { lockProvider });
      const late = new HeldStatement();
      stale.faulty.fail(statement, late.waitedFor);
      const { task, runs } = countedTask();
      const claiming = stale.guard.run(DUE_AT_ONCE, task);
      await late.sent;
      await place.elapse('61s');

      const { guard } = place.instance({ lockProvider: withoutTokens(place.instance().lockProvider) });
      const held = heldTask();
      const running = guard.run(DUE_AT_ONCE, held.task);
      await held.started;
      await late.arrive().catch(() => undefined); // Its caller gets the error.
      await assert.rejects(claiming, LockLostError);
      held.end();
      assert.deepEqual(await running, { executed: true, value: 'done' });
      assert.equal(runs(), 0);
      const row = await guard.ledger.get(CLOSE_DAY);
      assert.deepEqual([row?.state, row?.attempt], ['completed', statement === 'change' ? 2 : 1]);
    },
  );
}

testLedger('no statement of a claim takes longer than its lease lasts', async (place) => {
  const { guard, faulty } = faultyInstance(place);
  faulty.fail('insert', (run) => {
    place.clock.stall('58s');
    return contended(run);
  });
  await guard.run(DUE_AT_ONCE, () => 'done');
  // cronlatch trusts a lease on SQLite for a millisecond less, because SQLite's clock counts whole
  // milliseconds.
  const limits = faulty.calls.map((call, index) => [
    call,
    Math.ceil((faulty.limitsMs[index] ?? 0) / 10) * 10,
  ]);
  assert.deepEqual(limits.slice(0, 3), [
    ['peek', 5000],
    ['insert', 5000],
    ['change', 2000],
  ]);
});

testLedger('a lower token is refused until lease_until has passed, for a due run (L-05)', async (place) => {
  const first = place.instance();
  await assert.rejects(first.guard.run(DUE_AT_ONCE, noBank), /no bank today/);
  const { guard } = await withEmptyLockTable(place, LONG_AGO);
  const { task } = countedTask();
  assert.deepEqual(await guard.run(DUE_AT_ONCE, task), { executed: false, reason: 'running-elsewhere' });
  await place.elapse('50s');
  assert.deepEqual(await guard.run(DUE_AT_ONCE, task), { executed: false, reason: 'running-elsewhere' });
  await place.elapse('11s');
  assert.deepEqual(await guard.run(DUE_AT_ONCE, task), { executed: true, value: 'done' });
  assert.equal((await guard.ledger.get(CLOSE_DAY))?.attempt, 2);
});

testLedger(
  'a lower token is refused until lease_until has passed, for a running run (L-05)',
  async (place) => {
    const { task: crashing, started } = heldTask();
    void place.instance().guard.run(closeDay(), crashing);
    await started;
    const { guard } = await withEmptyLockTable(place, LONG_AGO);
    const { task } = countedTask();
    assert.deepEqual(await guard.run(closeDay(), task), { executed: false, reason: 'running-elsewhere' });
    await place.elapse('61s');
    assert.deepEqual(await guard.run(closeDay(), task), { executed: true, value: 'done' });
    assert.equal((await guard.ledger.get(CLOSE_DAY))?.attempt, 2);
  },
);
