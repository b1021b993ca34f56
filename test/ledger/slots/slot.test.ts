import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Run, RunState } from 'cronlatch/provider';
import { decideExpired, decideCancellation, type Cancellation } from '#cronlatch/ledger/slots/slot';
import { mayChange } from '#cronlatch/ledger/run-state';
import { CLAIM } from '../../support/jobs/runs';

const now = new Date('2026-11-20T03:00:00Z');
const before = new Date(now.getTime() - 1);
const WHY: Cancellation = { reason: 'unconfirmed', error: 'It did not start.' };

const claimed = (changes: Partial<Run> = {}): Run => ({
  ...CLAIM,
  ...{ periodStart: undefined, periodEnd: undefined, timeZone: undefined },
  ...{ state: 'running', nextAttemptAt: undefined, lockId: 'node-cron', fencingToken: undefined },
  ...{ leaseUntil: before, firstStartedAt: before, startedAt: before, finishedAt: undefined },
  ...{ reason: undefined, createdAt: before, updatedAt: before, result: undefined, error: undefined },
  ...changes,
});

void test('a claim that does not begin fails permanently with its reason, which the table of changes allows', () => {
  const { value, write, events = [] } = decideCancellation({ run: claimed(), now }, CLAIM, WHY);
  assert.equal(value, 'recorded');
  assert.deepEqual(
    [write?.state, write?.reason, write?.error, write?.nextAttemptAt, write?.finishedAt],
    ['failed', 'unconfirmed', 'It did not start.', undefined, now],
  );
  assert.deepEqual(
    events.map(({ kind, actor, detail }) => [kind, actor, detail]),
    [['failed', CLAIM.claimedBy, 'It did not start.']],
  );
  assert.ok(mayChange('running', 'failed', 'holder'));
});

void test('a retry of the same write changes nothing', () => {
  const { write } = decideCancellation({ run: claimed(), now }, CLAIM, WHY);
  assert.ok(write);
  assert.deepEqual(decideCancellation({ run: write, now }, CLAIM, WHY), { value: 'recorded' });
});

const OTHERS: [what: string, run: Run | undefined][] = [
  ['a missing row', undefined],
  ['another instance’s row', claimed({ claimedBy: 'another instance' })],
  ['a later generation', claimed({ generation: CLAIM.generation + 1 })],
  ...(['completed', 'interrupted', 'pending', 'failed', 'skipped'] satisfies RunState[]).map(
    (state): [string, Run] => [`a run that is ${state}`, claimed({ state })],
  ),
];

for (const [what, run] of OTHERS) {
  void test(`${what} stays unchanged by a claim that does not begin`, () => {
    assert.deepEqual(decideCancellation(run && { run, now }, CLAIM, WHY), { value: 'not-ours' });
  });
}

void test('a run whose lease has expired becomes interrupted', () => {
  const { value, write, events } = decideExpired({ run: claimed(), now }, CLAIM.claimedBy);
  assert.equal(value?.state, 'running');
  assert.deepEqual(
    events?.map(({ kind, attempt, actor }) => [kind, attempt, actor]),
    [['lost', 1, CLAIM.claimedBy]],
  );
  assert.deepEqual([write?.state, write?.reason, write?.finishedAt], ['interrupted', 'crashed', now]);
  assert.ok(mayChange('running', 'interrupted', 'claim with onCrash hold'));
});

const ALIVE: [what: string, run: Run | undefined][] = [
  ['a deleted row', undefined],
  ['a lease that has not expired', claimed({ leaseUntil: new Date(now.getTime() + 1) })],
  ['another claim', claimed({ claimedBy: 'another instance' })],
  ['a run that has ended meanwhile', claimed({ state: 'completed' })],
];

for (const [what, run] of ALIVE) {
  void test(`${what} does not become interrupted`, () => {
    assert.deepEqual(decideExpired(run && { run, now }, CLAIM.claimedBy), { value: undefined });
  });
}
