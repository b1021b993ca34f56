import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FatalJobError } from 'cronlatch';
import type { Run } from 'cronlatch/provider';
import { decideOutcome, type Outcome } from '#cronlatch/ledger/tick/decide-outcome';
import { parseRetryPolicy } from '#cronlatch/ledger/policy/retry';
import { after, CLAIM, NOW, runRow } from '../../support/jobs/run-row';
import type { Claim } from '#cronlatch/ledger/run';

const RETRY = parseRetryPolicy({}, 'day', `of job 'close-day'`);

const COMPLETED: Outcome = { kind: 'completed', result: '3' };
const FAILED = {
  kind: 'failed',
  error: new Error('no bank'),
  errorText: 'Error: no bank',
  retry: RETRY,
} as const;
const GIVEN_BACK: Outcome = { kind: 'given-back' };
const SKIPPED: Outcome = { kind: 'skipped', reason: 'nothing to close' };
const OUTCOMES: readonly Outcome[] = [COMPLETED, FAILED, GIVEN_BACK, SKIPPED];

function decide(row: Partial<Run>, outcome: Outcome, claim: Partial<Claim> = {}) {
  return decideOutcome({ run: runRow(row), now: NOW }, { ...CLAIM, ...claim }, outcome);
}

/** Of the attempt of `runRow()`. */
const EVENT = { generation: 0, attempt: 1, actor: 'host/1/a', fencingToken: 7 };
/** Every outcome clears these fields. */
const CLEARED = { finishedAt: NOW, nextAttemptAt: undefined, reason: undefined };

void test('a completed run keeps its result, and clears the error of an earlier attempt', () => {
  assert.deepEqual(decide({ error: 'of attempt 1', reason: 'of old' }, COMPLETED), {
    value: { kind: 'completed' },
    write: runRow({ ...CLEARED, state: 'completed', result: '3', error: undefined }),
  });
});

void test('a run that was made up keeps that mark, unless its end has a reason', () => {
  const marked = [COMPLETED, FAILED].map((outcome) => decide({ reason: 'made-up' }, outcome).write?.reason);
  assert.deepEqual(marked, ['made-up', 'made-up']);
  const last = decide({ reason: 'made-up', attempt: 3 }, FAILED, { attempt: 3 });
  assert.equal(last.write?.reason, 'exhausted');
});

void test('a failed run keeps its error, and the time at which it is due again (L-26)', () => {
  const retryAt = after(60_000);
  assert.deepEqual(decide({}, FAILED), {
    value: { kind: 'recorded', retryAt },
    write: runRow({ ...CLEARED, state: 'failed', nextAttemptAt: retryAt, error: 'Error: no bank' }),
    events: [{ ...EVENT, kind: 'failed', detail: 'Error: no bank' }],
  });
});

void test('a run that fails in its last attempt is not due again (L-25)', () => {
  const { value, write } = decide({ attempt: 3 }, FAILED, { attempt: 3 });
  assert.deepEqual(value, { kind: 'recorded', retryAt: undefined });
  assert.deepEqual([write?.reason, write?.nextAttemptAt], ['exhausted', undefined]);
});

void test('a fatal error leaves no further attempt (L-29)', () => {
  const { write } = decide({}, { ...FAILED, error: new FatalJobError('never') });
  assert.deepEqual([write?.state, write?.reason, write?.nextAttemptAt], ['failed', 'fatal', undefined]);
});

void test('a run without a start time counts from now', () => {
  const failed = { ...FAILED, retry: { ...RETRY, untilMs: 60_001 } };
  const run = runRow({ firstStartedAt: undefined });
  const { value } = decideOutcome({ run, now: NOW }, CLAIM, failed);
  assert.deepEqual(value, { kind: 'recorded', retryAt: after(60_000) });
});

void test('a run that is given back is due at once, and its attempt does not count (L-23)', () => {
  assert.deepEqual(decide({}, GIVEN_BACK), {
    value: { kind: 'recorded', retryAt: undefined },
    write: runRow({
      ...{ ...CLEARED, state: 'pending', attempt: 0, nextAttemptAt: NOW },
      firstStartedAt: undefined,
    }),
    events: [{ ...EVENT, kind: 'given-back', detail: undefined }],
  });
});

void test('a run that a closing guard has stopped is given back, and keeps the time of its first start (L-23)', () => {
  const { write } = decide({}, { kind: 'given-back', isStopped: true });
  assert.deepEqual([write?.state, write?.attempt, write?.firstStartedAt], ['pending', 0, after(-60_000)]);
  const again = decide({ startedAt: after(-1000) }, GIVEN_BACK);
  assert.deepEqual(again.write?.firstStartedAt, after(-60_000), 'it had started before');
});

void test('giving back a later attempt does not restart the time for retries (L-23)', () => {
  const { write } = decide({ attempt: 2 }, GIVEN_BACK, { attempt: 2 });
  assert.deepEqual([write?.attempt, write?.firstStartedAt], [1, after(-60_000)]);
});

void test('a run that the job skips keeps the reason', () => {
  assert.deepEqual(decide({}, SKIPPED), {
    value: { kind: 'recorded', retryAt: undefined },
    write: runRow({ ...CLEARED, state: 'skipped', reason: 'job' }),
    events: [{ ...EVENT, kind: 'skipped', detail: 'nothing to close' }],
  });
});

void test('an attempt can be completed even if its lease has expired (L-24)', () => {
  assert.equal(decide({ leaseUntil: after(-1) }, COMPLETED).write?.state, 'completed');
});

void test('an interrupted run can be completed by the attempt that seemed to have crashed (L-54)', () => {
  assert.deepEqual(decide({ state: 'interrupted', reason: 'lease-ended' }, COMPLETED), {
    value: { kind: 'completed' },
    write: runRow({ ...CLEARED, state: 'completed', result: '3' }),
    events: [{ ...EVENT, kind: 'completed-late', detail: undefined }],
  });
});

void test('only a completion can be recorded for an interrupted run (L-54)', () => {
  for (const outcome of [FAILED, GIVEN_BACK, SKIPPED])
    assert.deepEqual(decide({ state: 'interrupted' }, outcome), {
      value: { kind: 'lost', run: runRow({ state: 'interrupted' }) },
    });
});

void test('recording a completed attempt again returns completed (L-06)', () => {
  for (const outcome of OUTCOMES)
    assert.deepEqual(decide({ state: 'completed' }, outcome), { value: { kind: 'completed' } });
});

void test('an outcome that was already recorded is not recorded again (L-06)', () => {
  for (const outcome of [FAILED, GIVEN_BACK, SKIPPED]) {
    const { value, write } = decide({}, outcome);
    assert.ok(write !== undefined);
    assert.deepEqual(decide(write, outcome), { value });
    for (const other of OUTCOMES.filter(({ kind }) => kind !== outcome.kind))
      assert.deepEqual(decide(write, other), { value: { kind: 'lost', run: write } });
  }
});

void test("an outcome set by an operator is not taken for the attempt's own record (L-06)", () => {
  for (const row of [
    { state: 'failed', error: 'of an earlier attempt' },
    { state: 'skipped', reason: 'operator' },
  ] as const)
    for (const outcome of [FAILED, SKIPPED] as const)
      assert.deepEqual(decide(row, outcome), { value: { kind: 'lost', run: runRow(row) } });
});

void test('an attempt that the row no longer has is lost (L-14)', () => {
  const foreign: Partial<Run>[] = [
    { attempt: 2 },
    { generation: 1 },
    { claimedBy: 'host/2/b' },
    { claimedBy: undefined },
    { state: 'pending' },
    { state: 'failed' },
    { state: 'skipped' },
  ];
  for (const outcome of OUTCOMES) {
    for (const row of foreign)
      assert.deepEqual(decide(row, outcome), { value: { kind: 'lost', run: runRow(row) } });
    const gone = decideOutcome(undefined, CLAIM, outcome);
    assert.deepEqual(gone, { value: { kind: 'lost', run: undefined } });
  }
});

void test('an event of a row without a holder still has an actor', () => {
  const unnamed = { claimedBy: undefined } as unknown as Partial<Claim>;
  const { events } = decide({ claimedBy: undefined }, FAILED, unnamed);
  assert.equal(events?.[0]?.actor, 'unknown');
});
