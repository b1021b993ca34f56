import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LockStorageError, type CronlatchEvents, type OncePerConfiguration } from 'cronlatch';
import { InMemoryLockProvider } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';
import { guardBench } from '../support/benches/guard';
import { DAILY, guardOfRuns } from '../support/benches/guard-of-runs';

const CUSTOM = (period: (at: Date) => string) => ({ ...DAILY, oncePer: { period, timeZone: 'UTC' } });
const brokenKey = (): never => {
  throw new Error('no quarter known');
};

const away = (): Promise<never> =>
  Promise.reject(new LockStorageError('refused', { outcome: 'nothing-ran' }));

type Scope = OncePerConfiguration['scope'];

function scoped(scope: Scope) {
  const resume = (): [] => [];
  return { ...DAILY, oncePer: { ...DAILY.oncePer, scope, resume } };
}

const SCOPES: [string, Scope][] = [
  [
    'throws',
    () => {
      throw new Error('no tenant');
    },
  ],
  ['answers what cannot be a scope', (() => 7) as unknown as Scope],
  ['answers a scope that is too long', () => 's'.repeat(65)],
];

for (const [how, scope] of SCOPES) {
  void test(`a scope function that ${how} is reported, because no caller would notice that nothing ran`, async () => {
    const { guard, emitted } = guardOfRuns();
    const wrapped = guard.wrap(scoped(scope), () => assert.fail('ran'));
    assert.equal(await wrapped(), undefined);
    assert.equal(emitted.length, 1);
    const [name, event] = emitted[0] as ['lock:failed', CronlatchEvents['lock:failed']];
    assert.equal(name, 'lock:failed');
    assert.equal(event.willRetry, false);
    assert.match(String(event.error), /InvalidLockConfigurationError: .*scope/);
  });
}

void test('a key function that throws is reported; the tick is not retried, because its period is unknown', async () => {
  const { guard, emitted, names } = guardOfRuns();
  const wrapped = guard.wrap(CUSTOM(brokenKey), () => assert.fail('ran'), { onError: 'throw' });
  await assert.rejects(wrapped(), { name: 'InvalidLockConfigurationError', message: /key function threw/ });
  assert.deepEqual(names(), ['lock:failed']);
  assert.equal((emitted[0]?.[1] as CronlatchEvents['lock:failed']).willRetry, false);
});

void test('a key function that throws for a while does not block the retries of its job or of others', async () => {
  const { guard, runStore, clock } = guardOfRuns();
  let isBroken = false;
  let attempts = 0;
  const key = (): string => (isBroken ? brokenKey() : 'release-7');
  const fails = (): void => {
    attempts += 1;
    if (attempts < 3) throw new Error('no bank today');
  };
  await guard.wrap(CUSTOM(key), fails)();
  const other = guard.wrap({ ...DAILY, name: 'other' }, fails);
  await other();
  clock.advance('1m');
  isBroken = true;
  await guard.runOverdue();
  isBroken = false;
  clock.advance('1m');
  await guard.runOverdue();
  const runs = await runStore.find({ order: 'oldest-first', limit: 10 });
  assert.deepEqual(
    runs.map(({ job, state }) => [job, state]),
    [
      ['other', 'completed'],
      ['close-day', 'completed'],
    ],
  );
});

void test('a call without a scheduled time is retried until its own day has ended', async () => {
  const { guard, clock, accessor, emitted } = guardOfRuns();
  const days: string[] = [];
  const wrapped = guard.wrap(DAILY, () => void days.push(clock.now().toISOString()));
  accessor.fail('updateRecord', away, away);
  assert.equal(await wrapped(), undefined);
  clock.advance('1d');
  await guard.runOverdue();
  assert.deepEqual(days, []);
  const warnings = emitted.filter(([name]) => name === 'guard:warning').map(([, event]) => event);
  assert.match(JSON.stringify(warnings), /close-day.*2026-11-20.*the period is missed/);
});

void test('yesterday’s unanswered call does not replace today’s', async () => {
  const { guard, clock, accessor } = guardOfRuns();
  const days: (string | undefined)[] = [];
  const job = guard.wrap(DAILY, async () => {
    days.push((await guard.ledger.last('close-day'))?.periodKey);
  });
  accessor.fail('updateRecord', away, away, away);
  await job();
  clock.advance('23h');
  await job();
  await guard.runOverdue();
  await guard.runOverdue();
  assert.deepEqual(days, ['2026-11-21']);
});

void test('a guard without a run store rejects a once-per job, and the error explains how to add one', () => {
  const { guard } = guardBench();
  const remedy = {
    name: 'InvalidLockConfigurationError',
    message: /^Job 'close-day' needs a ledger, but this guard has only locks. Create it/,
  };
  assert.throws(() => guard.check(DAILY), remedy);
  assert.throws(() => guard.wrap(DAILY, () => {}), remedy);
  assert.throws(() => guard.ledger, { message: /^guard\.ledger needs a ledger/ });
});

const CHECKED: [object, RegExp][] = [
  [{ ...DAILY, oncePer: { period: 'day' } }, /^Job 'close-day' needs a timeZone/],
  [{ ...DAILY, oncePer: { period: 'day', timeZone: 'Mars' } }, /^timeZone of job 'close-day' is "Mars"/],
  [{ ...DAILY, shared: true }, /with the shared lock 'close-day' needs a name of its own/],
  [{ ...DAILY, oncePer: { ...DAILY.oncePer, name: 'a\u0000b' } }, /control character/],
  [{ ...DAILY, oncePer: { ...DAILY.oncePer, onCrash: 'wait' } }, /onCrash of job 'close-day' is "wait"/],
  [{ name: 'close-day', oncePer: DAILY.oncePer }, /lockAtMostFor of lock 'close-day' is missing/],
];

for (const [configuration, message] of CHECKED) {
  void test(`check rejects ${JSON.stringify(configuration)}`, () => {
    const { guard } = guardOfRuns();
    assert.throws(() => guard.check(configuration as typeof DAILY), {
      name: 'InvalidLockConfigurationError',
      message,
    });
  });
}

void test('the lock of a once-per job may have a longer name than the job, if the guard allows it', async () => {
  const clock = new SettableClock();
  const lockProvider = new InMemoryLockProvider({ clock, nameLength: 200 });
  const { guard } = guardOfRuns({ lockProvider, nameLength: 200 });
  const oncePer = { ...DAILY.oncePer, name: 'close-day' };
  const result = await guard.run({ ...DAILY, name: 'x'.repeat(150), oncePer }, () => 'ran');
  assert.deepEqual(result, { executed: true, value: 'ran' });
});
