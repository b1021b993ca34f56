import assert from 'node:assert/strict';
import { test } from 'node:test';
import { currentLock, currentRun, InvalidLockConfigurationError, InvalidLockUseError } from 'cronlatch';
import { asRun } from 'cronlatch/testing';

void test('the code under test sees the run that the test describes', async () => {
  const given = {
    job: 'close-day',
    scope: 'eu',
    businessDate: '2026-11-20',
    periodKey: '2026-11-20',
    periodStart: new Date('2026-11-19T23:00:00Z'),
    periodEnd: new Date('2026-11-20T23:00:00Z'),
    scheduledAt: new Date('2026-11-20T02:00:00Z'),
    attempt: 3,
    generation: 2,
    isCatchUp: true,
    signal: AbortSignal.abort(),
    fencingToken: 7,
  };
  const { value } = await asRun(given, async () => {
    await Promise.resolve();
    const run = currentRun();
    const { job, scope, businessDate, periodKey, periodStart, periodEnd, scheduledAt } = run;
    const { attempt, generation, isCatchUp, signal, fencingToken, idempotencyKey } = run;
    return {
      ...{ job, scope, businessDate, periodKey, periodStart, periodEnd, scheduledAt },
      ...{ attempt, generation, isCatchUp, signal, fencingToken, idempotencyKey },
    };
  });
  assert.deepEqual(value, { ...given, idempotencyKey: 'close-day/eu/2026-11-20/2' });
});

void test('two runs have one idempotency key only if they are one run', async () => {
  const keyOf = async (run: { job: string; scope?: string; periodKey?: string }): Promise<string> =>
    (await asRun(run, () => currentRun().idempotencyKey)).value;
  const parts = [
    { job: 'pay', scope: 'eu/fr', periodKey: 'p' },
    { job: 'pay/eu', scope: 'fr', periodKey: 'p' },
    { job: 'pay', scope: 'eu%2Ffr', periodKey: 'p' },
    { job: 'pay', scope: 'eu', periodKey: 'fr/p' },
    { job: 'pay', scope: 'eu', periodKey: 'fr%2Fp' },
  ];
  const keys = await Promise.all(parts.map(keyOf));
  assert.equal(new Set(keys).size, parts.length, keys.join('\n'));
  // A retry after an upgrade has the key of the attempt before it.
  const plain = { job: 'überweisen, täglich', scope: 'eu:fr+be', periodKey: '2026-11-20T01+0100' };
  assert.equal(await keyOf(plain), 'überweisen, täglich/eu:fr+be/2026-11-20T01+0100/0');
});

void test('a field that the test leaves out has its value for a first attempt in the current period', async () => {
  const { value: run } = await asRun({ businessDate: '2026-11-20' }, () => currentRun());
  assert.equal(run.idempotencyKey, 'job//2026-11-20/0');
  assert.equal(run.periodStart?.toISOString(), '2026-11-20T00:00:00.000Z');
  assert.equal(run.periodEnd?.toISOString(), '2026-11-21T00:00:00.000Z');
  assert.deepEqual(
    [run.attempt, run.isCatchUp, run.scheduledAt, run.fencingToken],
    [1, false, undefined, undefined],
  );
  assert.equal(run.signal.aborted, false);
  const { value: lock } = await asRun({}, () => currentLock({ optional: true }));
  assert.equal(lock, undefined);
  const { value: today } = await asRun({}, () => currentRun().businessDate);
  assert.match(today, /^\d{4}-\d\d-\d\d$/);
});

void test('the period of a custom key has neither start nor end', async () => {
  const options = { periodKey: 'close/2026', periodStart: undefined, periodEnd: undefined };
  const { value: run } = await asRun(options, () => currentRun());
  assert.deepEqual([run.periodKey, run.periodStart, run.periodEnd], ['close/2026', undefined, undefined]);
});

void test('asRun returns the value, and how the job ended its run', async () => {
  assert.deepEqual(await asRun({}, () => 42), { value: 42, decision: undefined });
  assert.deepEqual(await asRun({}, () => currentRun().giveBack()), {
    value: undefined,
    decision: { kind: 'given-back' },
  });
  assert.deepEqual(await asRun({}, () => currentRun().skip('a bank holiday')), {
    value: undefined,
    decision: { kind: 'skipped', reason: 'a bank holiday' },
  });
});

void test('what the work throws is rethrown as it is', async () => {
  const mine = new Error('mine');
  await assert.rejects(
    asRun({}, () => Promise.reject(mine)),
    mine,
  );
  const throwing = (): never => {
    throw mine;
  };
  await assert.rejects(asRun({}, throwing), mine);
});

void test('the run ends with the work: afterwards the job cannot change it', async () => {
  const { value: run } = await asRun({}, () => currentRun());
  assert.throws(() => run.giveBack(), InvalidLockUseError);
  assert.throws(() => currentRun(), /call it from a handler .* in a test, inside asRun\(\)/);
});

void test('a business date that there is not is refused', async () => {
  await assert.rejects(
    asRun({ businessDate: '2026-02-30' }, () => assert.fail('ran')),
    InvalidLockConfigurationError,
  );
});
