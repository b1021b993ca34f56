import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OncePerOptions } from 'cronlatch';
import type { Run } from 'cronlatch/provider';
import { decideClaim, lostEventOf, type ClaimHolder } from '#cronlatch/ledger/tick/decide-claim';
import { parseJobPolicy } from '#cronlatch/ledger/policy/job-policy';
import { after, CLAIM, NOW, runRow } from '../../support/jobs/run-row';

/** The holder of the next grant of the row's own lock. */
const NEXT_HOLDER: ClaimHolder = {
  claimedBy: 'host/2/b',
  lockId: 'place/close-day',
  fencingToken: 8,
  leaseMs: 90_000,
};

const DAY = { period: 'day', timeZone: 'Europe/Paris' } as const;

function decide(row: Partial<Run>, holder: Partial<ClaimHolder> = {}, options: OncePerOptions = {}) {
  const policy = parseJobPolicy({ ...DAY, ...options }, 'close-day');
  return decideClaim({ run: runRow(row), now: NOW }, { ...NEXT_HOLDER, ...holder }, policy);
}

/** The decision as one word. */
function verdict(...asked: Parameters<typeof decide>): string {
  const { value } = decide(...asked);
  return value?.kind === 'refused' ? value.reason : String(value?.kind);
}

void test('a missing row has no holder', () => {
  const decision = decideClaim(undefined, NEXT_HOLDER, parseJobPolicy(DAY, 'close-day'));
  assert.deepEqual(decision, { value: undefined });
});

void test('a finished run is not started, and nothing is written', () => {
  for (const [state, reason] of [
    ['completed', 'already-completed'],
    ['skipped', 'skipped'],
    ['interrupted', 'interrupted'],
  ] as const)
    assert.deepEqual(decide({ state, leaseUntil: after(-1) }), { value: { kind: 'refused', reason } });
});

void test('our own claim whose answer was lost is recognised, and nothing is written (L-06)', () => {
  const decision = decide({}, { claimedBy: 'host/1/a', fencingToken: 7 });
  assert.deepEqual(decision, { value: { kind: 'claimed', claim: CLAIM } });
});

const NO_TOKEN = { fencingToken: undefined };
const isRunningHere = (claimedBy: string): boolean => claimedBy === 'host/1/a';

const BY_THE_LOCK: readonly [string, Partial<Run>, Partial<ClaimHolder>, string][] = [
  ['a later grant of the same lock', {}, {}, 'claimed'],
  ['the same grant', {}, { fencingToken: 7 }, 'running-elsewhere'],
  ['an earlier grant', {}, { fencingToken: 6 }, 'running-elsewhere'],
  ['a lock without tokens', { fencingToken: undefined }, { fencingToken: undefined }, 'claimed'],
  [
    'a lock without tokens, and the attempt runs in this process',
    NO_TOKEN,
    { ...NO_TOKEN, isRunningHere },
    'running-elsewhere',
  ],
  ['a lock that now has tokens', { fencingToken: undefined }, {}, 'claimed'],
  ['another lock', {}, { lockId: 'place/renamed' }, 'running-elsewhere'],
];

for (const [who, row, holder, expected] of BY_THE_LOCK) {
  void test(`while the row's lease may last, ${who}: ${expected} (L-05)`, () =>
    assert.equal(verdict({ leaseUntil: after(1), ...row }, holder), expected));
}

const BY_TIME: readonly [string, Partial<Run>, Partial<ClaimHolder>, string][] = [
  ['an earlier grant, after its counter was lost', {}, { fencingToken: 1 }, 'claimed'],
  ['another lock', {}, { lockId: 'place/renamed' }, 'claimed'],
  ['a row without a lease', { leaseUntil: undefined }, { lockId: 'place/renamed' }, 'claimed'],
  ['the same grant, whose earlier call is still running', {}, { fencingToken: 7 }, 'running-elsewhere'],
];

for (const [who, row, holder, expected] of BY_TIME) {
  void test(`when the row's lease has expired, ${who}: ${expected} (L-05)`, () =>
    assert.equal(verdict({ leaseUntil: NOW, ...row }, holder), expected));
}

void test('the next attempt replaces a crashed holder, and the history records it (L-15)', () => {
  const lost = runRow();
  const { value, write, events } = decide({});
  const claim = { ...CLAIM, attempt: 2, claimedBy: 'host/2/b' };
  assert.deepEqual(value, { kind: 'claimed', claim, lost });
  assert.deepEqual(write, {
    ...lost,
    ...{ attempt: 2, claimedBy: 'host/2/b', fencingToken: 8, leaseUntil: after(90_000), startedAt: NOW },
  });
  assert.deepEqual(events, [
    {
      ...{ generation: 0, attempt: 1, kind: 'lost', actor: 'host/1/a', fencingToken: 7 },
      detail: 'its lease ended; the attempt had started at 2026-11-20 03:59:00+01:00',
    },
  ]);
});

void test('with hold a run whose holder crashed waits for an operator, regardless of the attempts left (L-16)', () => {
  for (const attempt of [1, 3]) {
    const lost = runRow({ attempt });
    assert.deepEqual(decide({ attempt }, {}, { onCrash: 'hold' }), {
      value: { kind: 'refused', reason: 'interrupted', lost },
      write: { ...lost, state: 'interrupted', reason: 'lease-ended', finishedAt: NOW },
      events: [lostEventOf(lost)],
    });
  }
});

void test('a holder that crashes in the last attempt leaves a failed run (L-22)', () => {
  const lost = runRow({ attempt: 3 });
  const { value, write, events } = decide({ attempt: 3 });
  assert.deepEqual(value, { kind: 'refused', reason: 'exhausted', lost });
  assert.deepEqual(write, { ...lost, state: 'failed', reason: 'lease-ended', finishedAt: NOW });
  assert.deepEqual(
    events?.map(({ kind, attempt }) => [kind, attempt]),
    [['lost', 3]],
  );
});

void test('a holder that crashes after retries have ended is not replaced (L-28)', () => {
  assert.equal(verdict({}, {}, { retry: { until: '1m' } }), 'exhausted');
  assert.equal(verdict({}, {}, { retry: { until: 60_001 } }), 'claimed');
  assert.equal(decide({}, {}, { retry: { until: '1m' } }).write?.reason, 'lease-ended');
  // For a run that an operator put back, the start of its first attempt is unknown.
  assert.equal(verdict({ firstStartedAt: undefined }, {}, { retry: { until: '1m' } }), 'claimed');
});

const DUE: Partial<Run> = { state: 'failed', nextAttemptAt: NOW, leaseUntil: after(-1) };
/** No attempt has begun. */
const UNSTARTED: Partial<Run> = { ...DUE, state: 'pending', attempt: 0, firstStartedAt: undefined };

void test('a failed run starts again from the time at which it is due (L-26)', () => {
  assert.equal(verdict({ ...DUE, nextAttemptAt: after(1) }), 'not-due');
  assert.equal(verdict({ ...DUE, nextAttemptAt: undefined }), 'exhausted');
  const { value, write } = decide({ ...DUE, reason: 'of old', finishedAt: after(-1) });
  assert.deepEqual(value, { kind: 'claimed', claim: { ...CLAIM, attempt: 2, claimedBy: 'host/2/b' } });
  assert.deepEqual(write, {
    ...runRow(),
    ...{ attempt: 2, claimedBy: 'host/2/b', fencingToken: 8, leaseUntil: after(90_000), startedAt: NOW },
  });
});

void test('the first attempt of a generation restarts the time for retries', () => {
  const first = decide({ ...UNSTARTED, generation: 1 }).write;
  assert.deepEqual([first?.attempt, first?.firstStartedAt], [1, NOW]);
  const resolved = decide({ ...DUE, state: 'pending', firstStartedAt: undefined }).write;
  assert.deepEqual([resolved?.attempt, resolved?.firstStartedAt], [2, after(-60_000)]);
});

void test("a holder of an earlier grant than the row's is refused until the row's lease has expired (L-04)", () => {
  const stale = { fencingToken: 6 };
  for (const state of ['pending', 'failed'] as const) {
    assert.equal(verdict({ ...DUE, state, leaseUntil: after(1) }, stale), 'running-elsewhere');
    assert.equal(verdict({ ...DUE, state, leaseUntil: NOW }, stale), 'claimed');
    assert.equal(verdict({ ...DUE, state, leaseUntil: undefined }, stale), 'claimed');
  }
  const leased = { ...DUE, leaseUntil: after(1) };
  assert.equal(verdict(leased, { fencingToken: 7 }), 'claimed', 'the same grant retries at once');
  assert.equal(verdict(leased, { ...stale, lockId: 'place/renamed' }), 'claimed', 'no order between locks');
  assert.equal(verdict(leased, { fencingToken: undefined }), 'claimed', 'no order without tokens');
  assert.equal(verdict({ ...leased, fencingToken: undefined }, stale), 'claimed', 'no order without tokens');
});

void test('a due run without attempts left fails permanently (L-31)', () => {
  const decision = decide({ ...DUE, attempt: 3 });
  const write = runRow({ ...DUE, attempt: 3, reason: 'exhausted', nextAttemptAt: undefined });
  assert.deepEqual(decision, { value: { kind: 'refused', reason: 'exhausted' }, write });
});

void test('a due run whose time for retries has passed fails permanently (L-28)', () => {
  const { value, write } = decide(DUE, {}, { retry: { until: '1m' } });
  assert.deepEqual(value, { kind: 'refused', reason: 'exhausted' });
  assert.deepEqual([write?.state, write?.reason, write?.nextAttemptAt], ['failed', 'until', undefined]);
});

void test('startDeadline applies to first attempts only (L-63)', () => {
  const pending: Partial<Run> = { ...UNSTARTED, createdAt: after(-4 * 3_600_000) };
  const { value, write } = decide(pending, {}, { startDeadline: '3h' });
  assert.deepEqual(value, { kind: 'refused', reason: 'deadline' });
  assert.deepEqual([write?.state, write?.reason, write?.nextAttemptAt], ['skipped', 'deadline', undefined]);
  assert.equal(verdict(pending, {}, { startDeadline: '4h' }), 'claimed');
  assert.equal(verdict({ ...pending, attempt: 1 }, {}, { startDeadline: '3h' }), 'claimed');
  const stopped = { ...pending, firstStartedAt: after(-3_600_000) };
  assert.equal(verdict(stopped, {}, { startDeadline: '3h' }), 'claimed', 'a closing guard gave it back');
});

void test('startDeadline counts from the scheduled time of the tick that claims, and else from the creation of the row (L-33)', () => {
  const pending: Partial<Run> = { ...UNSTARTED, createdAt: after(-120_000) };
  const options = { startDeadline: '1m' };
  assert.equal(verdict(pending, {}, options), 'deadline');
  assert.equal(verdict(pending, { scheduledAt: after(-60_000) }, options), 'claimed');
  assert.equal(verdict(pending, { scheduledAt: after(-60_001) }, options), 'deadline');
  assert.equal(verdict(pending, {}, { startDeadline: '2m' }), 'claimed');
});

void test('startDeadline of a backfilled row counts from the earliest tick of its period (L-33)', () => {
  const backfilled: Partial<Run> = {
    ...{ ...UNSTARTED, createdAt: NOW, periodKey: '2026-11-19' },
    periodStart: new Date('2026-11-18T23:00:00Z'),
    periodEnd: new Date('2026-11-19T23:00:00Z'),
  };
  assert.equal(verdict(backfilled, {}, { startDeadline: '27h' }), 'deadline');
  assert.equal(verdict(backfilled, {}, { startDeadline: '28h' }), 'claimed');
  const previous = { ...backfilled, createdAt: after(86_400_000) };
  assert.equal(verdict(previous, {}, { startDeadline: '3h', target: 'previous' }), 'deadline');
  assert.equal(verdict(previous, {}, { startDeadline: '4h', target: 'previous' }), 'claimed');
});
