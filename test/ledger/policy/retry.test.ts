import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { FatalJobError } from 'cronlatch';
import { parseRetryPolicy, planRetry, retriesEndAt, type RetryOptions } from '#cronlatch/ledger/policy/retry';
import { refused } from '../../support/checks/refused';

const OF = `of job 'close-day'`;
const NOW = new Date('2026-11-20T03:00:00Z');

const after = (ms: number): Date => new Date(NOW.getTime() + ms);

const FIRST = { attempt: 1, firstStartedAt: NOW, periodEnd: new Date('2026-11-21T00:00:00Z') };

/** The plan after a failure at `NOW`, of the first attempt unless `run` is another one. */
const planned = (options: RetryOptions, run: Partial<typeof FIRST> = {}, error: unknown = new Error('no')) =>
  planRetry({ ...FIRST, ...run }, error, parseRetryPolicy(options, 'day', OF), NOW);

const minutesUntilRetry = (options: RetryOptions, attempt: number): number | string => {
  const { retryAt, finalReason } = planned(options, { attempt });
  return retryAt === undefined ? String(finalReason) : (retryAt.getTime() - NOW.getTime()) / 60_000;
};

void test('by default, a failed run is due again after one minute, then after two (L-26)', () => {
  assert.deepEqual(
    [1, 2, 3].map((attempt) => minutesUntilRetry({}, attempt)),
    [1, 2, 'exhausted'],
  );
});

void test('each delay is multiplied by the factor, up to maxDelay (L-26)', () => {
  const options = { maxAttempts: 7, initialDelay: '10m', factor: 3, maxDelay: '5h' };
  assert.deepEqual(
    [1, 2, 3, 4, 5, 6, 7].map((attempt) => minutesUntilRetry(options, attempt)),
    [10, 30, 90, 270, 300, 300, 'exhausted'],
  );
  assert.deepEqual(
    [1, 2].map((attempt) => minutesUntilRetry({ factor: 1 }, attempt)),
    [1, 1],
  );
});

void test('a run that failed more often than maxAttempts now allows fails permanently (L-26)', () => {
  assert.equal(minutesUntilRetry({ maxAttempts: 1 }, 1), 'exhausted');
  assert.equal(minutesUntilRetry({ maxAttempts: 2 }, 5), 'exhausted');
});

void test('nothing is retried after the period has ended (L-28)', () => {
  const options: RetryOptions = { until: 'period-end' };
  assert.deepEqual(planned(options, { periodEnd: after(60_001) }), { retryAt: after(60_000) });
  assert.deepEqual(planned(options, { periodEnd: after(60_000) }), { finalReason: 'until' });
  assert.deepEqual(planned(options, { periodEnd: after(-1) }), { finalReason: 'until' });
});

void test('a duration counts from the first attempt (L-28)', () => {
  const options: RetryOptions = { until: '30m', maxAttempts: 9 };
  assert.deepEqual(planned(options, { firstStartedAt: after(-28 * 60_000) }), { retryAt: after(60_000) });
  assert.deepEqual(planned(options, { firstStartedAt: after(-29 * 60_000) }), { finalReason: 'until' });
  const end = retriesEndAt(NOW, FIRST.periodEnd, parseRetryPolicy(options, 'day', OF));
  assert.deepEqual(end, after(30 * 60_000));
});

void test('after a fatal error nothing is retried, even if attempts are left (L-29)', () => {
  class NoSuchAccount extends FatalJobError {}
  for (const error of [new FatalJobError('no'), new NoSuchAccount('no')])
    for (const maxAttempts of [1, 9])
      assert.deepEqual(planned({ maxAttempts }, {}, error), { finalReason: 'fatal' });
});

for (const error of [null, undefined, 'text', 0, new AggregateError([]), Object.create(null), Symbol('x')])
  void test(`a thrown ${typeof error} ${Object.prototype.toString.call(error)} is retried like any error (L-30)`, () => {
    const plan = planRetry(FIRST, error, parseRetryPolicy({}, 'day', OF), NOW);
    assert.deepEqual(plan, { retryAt: after(60_000) });
  });

void test('for every policy and attempt, a retry is due within maxDelay, and no earlier than the one before (L-32)', () => {
  const milliseconds = fc.integer({ min: 0, max: 86_400_000 });
  const factors = fc.oneof(
    fc.double({ min: 1, max: 1e308, noNaN: true }),
    fc.constantFrom(1, 2, Number.MAX_VALUE),
  );
  fc.assert(
    fc.property(
      milliseconds,
      milliseconds,
      factors,
      fc.integer({ min: 1, max: 998 }),
      (one, other, factor, attempt) => {
        const [initialDelay, maxDelay] = [Math.min(one, other), Math.max(one, other)];
        const delays = [attempt, attempt + 1].map((nth) => {
          const plan = planned({ maxAttempts: 1000, initialDelay, maxDelay, factor }, { attempt: nth });
          assert.ok('retryAt' in plan);
          return plan.retryAt.getTime() - NOW.getTime();
        });
        const [delay = NaN, next = NaN] = delays;
        assert.ok(initialDelay <= delay && delay <= next && next <= maxDelay, `${delay}, ${next}`);
      },
    ),
  );
});

const REFUSED: [RetryOptions, string][] = [
  [{ maxAttempts: 0 }, 'retry.maxAttempts'],
  [{ maxAttempts: -1 }, 'retry.maxAttempts'],
  [{ maxAttempts: 1.5 }, 'retry.maxAttempts'],
  [{ maxAttempts: 1001 }, 'retry.maxAttempts'],
  [{ maxAttempts: NaN }, 'retry.maxAttempts'],
  [{ maxAttempts: '3' as unknown as number }, 'retry.maxAttempts'],
  [{ factor: 0.5 }, 'retry.factor'],
  [{ factor: NaN }, 'retry.factor'],
  [{ factor: Infinity }, 'retry.factor'],
  [{ factor: -2 }, 'retry.factor'],
  [{ initialDelay: -1 }, 'retry.initialDelay'],
  [{ initialDelay: 'soon' }, 'retry.initialDelay'],
  [{ initialDelay: '2m', maxDelay: '1m' }, 'retry.initialDelay'],
  [{ maxDelay: '30s' }, 'retry.initialDelay'],
  [{ maxDelay: -1 }, 'retry.maxDelay'],
  [{ until: 0 }, 'retry.until'],
  [{ until: 'tomorrow' }, 'retry.until'],
];

for (const [options, culprit] of REFUSED)
  void test(`retry policy ${JSON.stringify(options)} is rejected, and the error names ${culprit}`, () => {
    refused(() => parseRetryPolicy(options, 'day', OF), `${culprit} of job 'close-day' is `);
  });

void test("until 'period-end' is rejected for a period without an end", () => {
  const customKey = (): string => 'key';
  assert.throws(
    () => parseRetryPolicy({ until: 'period-end' }, customKey, OF),
    /retry.until of job 'close-day' is "period-end": .* give a duration/,
  );
  assert.equal(parseRetryPolicy({ until: '1h' }, customKey, OF).untilMs, 3_600_000);
});

void test('a first delay of more than an hour raises maxDelay, unless maxDelay is set', () => {
  assert.equal(parseRetryPolicy({ initialDelay: '2h' }, 'day', OF).maxDelayMs, 7_200_000);
  assert.equal(parseRetryPolicy({ initialDelay: '10m' }, 'day', OF).maxDelayMs, 3_600_000);
});
