import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Run } from 'cronlatch/provider';
import { parseJobPolicy, type JobPolicy } from '#cronlatch/ledger/policy/job-policy';
import { decideClaim } from '#cronlatch/ledger/tick/decide-claim';
import { addRuns } from '../../support/jobs/acts';
import { dayJob } from '../../support/jobs/day-job';
import { testLedger } from '../../support/stores/ledger-tests';

const NOW_MS = Date.parse('2026-11-20T03:00:00Z');
const MINUTE_MS = 60_000;

const near = fc.integer({ min: -100_000, max: 100_000 }).map((seconds) => new Date(NOW_MS + seconds * 1000));
const perhaps = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined });

const states = fc.constantFrom('pending', 'running', 'completed', 'failed', 'interrupted', 'skipped');

/** Any row, including rows that no release of this library would have written. */
const runs: fc.Arbitrary<Run> = fc.record({
  ...{ job: fc.constant('close-day'), scope: fc.constant(''), periodKey: fc.constant('2026-11-20') },
  ...{ periodStart: perhaps(near), periodEnd: perhaps(near), timeZone: fc.constant('UTC') },
  ...{ state: states, generation: fc.nat(3), attempt: fc.nat(5) },
  ...{ nextAttemptAt: perhaps(near), leaseUntil: perhaps(near), firstStartedAt: perhaps(near) },
  ...{ startedAt: perhaps(near), finishedAt: perhaps(near), createdAt: near, updatedAt: near },
  ...{ claimedBy: perhaps(fc.constantFrom('a', 'b')), lockId: perhaps(fc.constantFrom('ours', 'theirs')) },
  ...{ fencingToken: perhaps(fc.nat(200)), reason: fc.constant(undefined) },
  ...{ result: fc.constant(undefined), error: fc.constant(undefined) },
});

const changes = fc.record({
  retry: fc.record({
    maxAttempts: fc.integer({ min: 1, max: 5 }),
    initialDelayMs: fc.nat(MINUTE_MS),
    factor: fc.constantFrom(1, 2),
    maxDelayMs: fc.constant(10 * MINUTE_MS),
    untilMs: fc.constantFrom(undefined, 'period-end' as const, 5 * MINUTE_MS),
  }),
  onCrash: fc.constantFrom('retry' as const, 'hold' as const),
  startDeadlineMs: perhaps(fc.constantFrom(1, 60 * MINUTE_MS)),
});
const DAY_POLICY = parseJobPolicy({ period: 'day', timeZone: 'UTC' }, 'close-day');
const policies: fc.Arbitrary<JobPolicy> = changes.map((changed) => ({ ...DAY_POLICY, ...changed }));

function isDue({ state, nextAttemptAt }: Run): boolean {
  return state === 'running' || ((state === 'pending' || state === 'failed') && nextAttemptAt !== undefined);
}

/**
 * Lets a holder take the lock and crash, again and again, until nothing is due. @returns the number of claims
 */
function claimsUntilDone(start: Run, policy: JobPolicy): number {
  let run = start;
  for (let claims = 0; claims <= 20; claims += 1) {
    if (!isDue(run)) return claims;
    // Later than any lease and any delay in the row.
    const now = new Date(NOW_MS + (claims + 1) * 200_000_000);
    const holder = {
      claimedBy: `holder ${claims}`,
      lockId: 'ours',
      fencingToken: 1000 + claims,
      leaseMs: MINUTE_MS,
    };
    run = decideClaim({ run, now }, holder, policy).write ?? run;
  }
  return Infinity;
}

void test('nothing stays due forever: for any row, repeated claims whose holders crash come to an end (L-63)', () => {
  fc.assert(
    fc.property(runs, policies, (run, policy) => {
      assert.ok(claimsUntilDone(run, policy) <= policy.retry.maxAttempts + 1);
    }),
    { numRuns: 2000 },
  );
});

void test('after a refused claim the row is not due, or another instance may still be running it (L-63)', () => {
  const holder = { claimedBy: 'ours', lockId: 'ours', fencingToken: 1000, leaseMs: MINUTE_MS };
  fc.assert(
    fc.property(runs, policies, (run, policy) => {
      const now = new Date(NOW_MS);
      const { value, write = run } = decideClaim({ run, now }, holder, policy);
      if (value?.kind !== 'refused' || !isDue(write)) return;
      const isEarly = write.nextAttemptAt !== undefined && write.nextAttemptAt > now;
      const mayStillRun = write.state === 'running' && write.lockId !== holder.lockId;
      assert.ok(isEarly || mayStillRun, value.reason);
    }),
    { numRuns: 2000 },
  );
});

testLedger('a pending run whose startDeadline has passed is skipped (L-63)', async (place) => {
  const { guard } = place.instance();
  guard.wrap(dayJob({ startDeadline: '12h' }), () => assert.fail('ran'));
  const range = { from: '2026-11-18', to: '2026-11-19', force: true };
  assert.equal((await addRuns(guard, range)).length, 2);
  assert.equal((await guard.runOverdue()).started, 0);
  const runs = await guard.ledger.list({});
  assert.equal(runs.length, 2);
  for (const { state, reason } of runs) assert.deepEqual([state, reason], ['skipped', 'deadline']);
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
});
