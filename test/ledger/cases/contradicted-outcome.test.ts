import assert from 'node:assert/strict';
import { test, type TestContext } from 'node:test';
import { ClaimLostError, type CronlatchEvents } from 'cronlatch';
import type { EventName, Run } from 'cronlatch/provider';
import { overlay } from '../../storage/contract-mutants/overlay';
import { turn } from '../../support/benches/lock';
import { CLOSE_DAY, NO_BANK, closeDay } from '../../support/jobs/close-day';
import { ledgerPlace, memoryStores, BEGINNING } from '../../support/stores/ledger-place';
import type { RunStore } from '#cronlatch/ledger/run-store';

/** The row of a run as a server shows it that lags behind, or that another process has written since. */
type Answer = (run: Run) => Run | undefined;

/** An instance whose store answers the recording of outcomes from other rows, as long as there are any. */
function benchOf(context: TestContext, answers: Answer[]) {
  const { place, close } = ledgerPlace(memoryStores(BEGINNING));
  context.after(close);
  const { store } = place.instance();
  const calls: string[] = [];
  const answering = overlay<RunStore>(store, {
    complete: async (...call) => {
      calls.push('complete');
      return answers.length === 0 && (await store.complete(...call));
    },
    change: async (key, decide, options) => {
      calls.push('change');
      const answer = answers.shift();
      if (answer === undefined) return await store.change(key, decide, options);
      const now = new Date(place.clock.wallMs());
      const found = await store.change(key, (row) => ({ value: row?.run }), options);
      const run = found && answer(found);
      return decide(run && { run, now }).value;
    },
  });
  const instance = place.instance({ runStore: answering });
  /** Lets time pass, second by second, until the promise has settled or the time has passed. */
  const settledWithin = async (promise: Promise<unknown>, seconds: number): Promise<boolean> => {
    let settled = false;
    const watch = (): void => void (settled = true);
    promise.then(watch, watch);
    for (let second = 0; second <= seconds; second += 1) {
      for (let turns = 0; turns < 20; turns += 1) await turn();
      if (settled) return true;
      await place.elapse('1s');
    }
    return false;
  };
  const of = <K extends EventName>(name: K): readonly CronlatchEvents[K][] => instance.of(name);
  return { ...instance, of, calls, place, settledWithin, row: () => instance.guard.ledger.get(CLOSE_DAY) };
}

const missing: Answer = () => undefined;
const olderRows: Record<string, Answer> = {
  'no row': missing,
  'the row before the claim': (run) => ({ ...run, state: 'pending', attempt: 0, claimedBy: undefined }),
  'the row of an attempt that was given back': (run) => ({ ...run, claimedBy: 'other/1/x' }),
};

for (const [what, older] of Object.entries(olderRows)) {
  void test(`a completion that finds ${what} during the lease is recorded again (L3, F-78)`, async (context) => {
    const { guard, calls, settledWithin, row } = benchOf(context, [older, older]);
    const running = guard.run(closeDay(), () => 'done');
    assert.ok(await settledWithin(running, 5));
    assert.deepEqual(await running, { executed: true, value: 'done' });
    assert.deepEqual(calls, ['complete', 'change', 'complete', 'change', 'complete']);
    assert.equal((await row())?.state, 'completed');
  });
}

void test('a failure that finds no row during the lease is recorded again, and the caller gets the error of the job (L4)', async (context) => {
  const { guard, settledWithin, row, of } = benchOf(context, [missing, missing]);
  const running = guard.run(closeDay(), () => Promise.reject(NO_BANK));
  assert.ok(await settledWithin(running, 5));
  await assert.rejects(running, NO_BANK);
  assert.equal((await row())?.state, 'failed');
  assert.deepEqual(of('guard:warning'), []);
});

const newerRows: Record<string, Answer> = {
  'a later attempt': (run) => ({ ...run, attempt: run.attempt + 1, claimedBy: 'other/1/x' }),
  'a later generation': (run) => ({
    ...run,
    state: 'pending',
    generation: 1,
    attempt: 0,
    claimedBy: undefined,
  }),
  'a completion by another process': (run) => ({ ...run, state: 'completed', claimedBy: 'other/1/x' }),
  'a skip by an operator': (run) => ({ ...run, state: 'skipped', attempt: 0, claimedBy: undefined }),
  'the answer of an operator who resolved the run': (run) => ({ ...run, state: 'pending' }),
};

for (const [what, newer] of Object.entries(newerRows)) {
  void test(`a completion that finds ${what} is refused at once (L3)`, async (context) => {
    const { guard, calls, of } = benchOf(context, [newer]);
    await assert.rejects(
      guard.run(closeDay(), () => 'done'),
      (error) => error instanceof ClaimLostError && error.message.includes('no longer counts: its row is '),
    );
    assert.deepEqual(calls, ['complete', 'change']);
    assert.equal(of('lock:released').length, 1);
  });
}

void test('the caller waits 10 s for a contradicted completion, and the lock is kept until it is settled (L3)', async (context) => {
  const answers: Answer[] = Array.from({ length: 22 }, () => missing);
  const { guard, settledWithin, place, row, of } = benchOf(context, answers);
  const running = guard.run(closeDay(), () => 'done');
  const beganMs = place.clock.monotonicMs();
  assert.ok(await settledWithin(running, 20));
  assert.ok(place.clock.monotonicMs() - beganMs <= 11_000);
  await assert.rejects(running, (error) => {
    assert.ok(error instanceof ClaimLostError);
    assert.match(error.message, /could not be recorded: the store has no row of it.* same server/);
    return true;
  });
  const other = place.instance();
  assert.deepEqual(await other.guard.run(closeDay(), () => 'again'), { executed: false, reason: 'locked' });
  const closing = guard.close({ timeout: '50s' });
  assert.ok(await settledWithin(closing, 40));
  assert.deepEqual(await closing, { settled: ['close-day'], abandoned: [] });
  assert.equal(answers.length, 0);
  assert.deepEqual([(await row())?.state, (await row())?.attempt], ['completed', 1]);
  assert.deepEqual(
    of('lock:released').map(({ stillOurs }) => stillOurs),
    [true],
  );
  assert.deepEqual(
    of('guard:warning').map(({ message }) => message),
    ["The outcome of the run of job 'close-day' for 2026-11-20 was recorded late."],
  );
  assert.deepEqual(await other.guard.run(closeDay(), () => 'again'), {
    executed: false,
    reason: 'already-completed',
  });
});

void test('a completion that the store contradicts until the lease ends is abandoned then (L-14)', async (context) => {
  const { guard, settledWithin, place, calls } = benchOf(
    context,
    Array.from({ length: 1000 }, () => missing),
  );
  const running = guard.run(closeDay(), () => 'done');
  assert.ok(await settledWithin(running, 20));
  await assert.rejects(running, ClaimLostError);
  for (let second = 0; second < 55; second += 1) {
    await place.elapse('1s');
    await turn();
  }
  const sent = calls.length;
  assert.ok(sent > 2);
  assert.ok(await settledWithin(guard.close({ timeout: '50s' }), 5));
  assert.equal(calls.length, sent, 'nothing is sent after the end of the lease');
});
