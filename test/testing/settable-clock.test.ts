import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { InvalidLockConfigurationError } from 'cronlatch';
import { SettableClock } from 'cronlatch/testing';

const NOW = '2026-11-20T03:00:00.000Z';

void test('it stands still until it is moved', () => {
  const clock = new SettableClock(NOW);
  clock.schedule(0, () => assert.fail('the clock was not moved'));
  assert.equal(clock.now().toISOString(), NOW);
  assert.equal(clock.wallMs(), Date.parse(NOW));
  assert.equal(clock.monotonicMs(), 0);
  assert.equal(clock.pendingTimers, 1);
});

void test('a date, a text and a number mean the same time, and without one it shows that of the host', () => {
  const before = Date.now();
  const wallMs = new SettableClock().wallMs();
  assert.ok(before <= wallMs && wallMs <= Date.now());
  for (const now of [NOW, new Date(NOW), Date.parse(NOW)])
    assert.equal(new SettableClock(now).now().toISOString(), NOW);
});

void test('an invalid date is rejected by its name', () => {
  assert.throws(
    () => new SettableClock('tomorrow'),
    new RangeError('SettableClock: tomorrow is not a date.'),
  );
  assert.throws(() => new SettableClock(new Date(NaN)), RangeError);
  assert.throws(() => new SettableClock(NaN), RangeError);
});

void test('timers are called in the order in which they fall due or were set, each at its own moment', () => {
  const { clock, calls, call } = recorded();
  call('last', 300);
  call('first', 100);
  call('now', -1000);
  for (const name of ['a', 'b', 'c']) call(name, 200);
  clock.advance(300);
  assert.deepEqual(calls, ['now at 0', 'first at 100', 'a at 200', 'b at 200', 'c at 200', 'last at 300']);
  assert.equal(clock.pendingTimers, 0);
});

void test('a timer that is set by a timer is called in the same advance if it falls due in it', () => {
  const { clock, calls, call } = recorded();
  clock.schedule(100, () => {
    call('at once', 0);
    call('soon', 50);
    call('later', 500);
  });
  call('between', 120);
  clock.advance(200);
  assert.deepEqual(calls, ['at once at 100', 'between at 120', 'soon at 150']);
  assert.equal(clock.monotonicMs(), 200);
  assert.equal(clock.pendingTimers, 1);
});

void test('a cancelled timer is not called, not even when the timer before it cancels it', () => {
  const { clock, calls, call } = recorded();
  const cancel = call('cancelled', 100);
  cancel();
  cancel();
  let cancelLater = (): void => {};
  clock.schedule(100, () => cancelLater());
  cancelLater = call('cancelled later', 100);
  clock.advance(100);
  assert.deepEqual(calls, []);
});

void test('nothing is called in a stall, and everything that was missed at the next advance', () => {
  const { clock, calls, call } = recorded();
  call('missed', 100);
  call('missed, too', 200);
  call('on time', 400);
  clock.stall(300);
  assert.deepEqual(calls, []);
  assert.equal(clock.monotonicMs(), 300);
  clock.advance(100);
  assert.deepEqual(calls, ['missed at 300', 'missed, too at 300', 'on time at 400']);
});

void test('a jump moves the wall clock, and neither time nor timers', () => {
  const { clock, calls, call } = recorded();
  call('timer', 1000);
  clock.jump(3_600_000);
  assert.equal(clock.now().toISOString(), '2026-11-20T04:00:00.000Z');
  clock.jump(-7_200_000);
  assert.equal(clock.now().toISOString(), '2026-11-20T02:00:00.000Z');
  assert.equal(clock.monotonicMs(), 0);
  assert.deepEqual(calls, []);
});

void test('a timer that moves the clock further does not make it go back', () => {
  const clock = new SettableClock(NOW);
  clock.schedule(100, () => clock.stall('1m'));
  clock.advance('1s');
  assert.equal(clock.monotonicMs(), 60_100);
});

void test('time does not go back, and an invalid duration is rejected', () => {
  const clock = new SettableClock(NOW);
  assert.throws(() => clock.advance(-1), InvalidLockConfigurationError);
  assert.throws(() => clock.advance('10'), /SettableClock\.advance is "10", which is not a duration/);
  assert.throws(() => clock.stall('-1s'), /SettableClock\.stall is/);
  assert.equal(clock.monotonicMs(), 0);
});

type Step =
  | { readonly do: 'set'; readonly delayMs: number; readonly againAfterMs: number | undefined }
  | { readonly do: 'cancel'; readonly index: number }
  | { readonly do: 'advance' | 'stall'; readonly ms: number };

const ms = fc.nat({ max: 50 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    fc.record({
      do: fc.constant('set' as const),
      delayMs: ms,
      againAfterMs: fc.option(ms, { nil: undefined }),
    }),
    fc.record({ do: fc.constant('cancel' as const), index: fc.nat({ max: 20 }) }),
    fc.record({ do: fc.constantFrom('advance' as const, 'stall' as const), ms }),
  ),
  { maxLength: 60 },
);

void test('for every sequence of moves, timers fire in due order, exactly once, never early, and late only after a stall', () => {
  fc.assert(
    fc.property(steps, (taken) => {
      const { clock, timers, set, advance } = observed();
      for (const step of taken) {
        switch (step.do) {
          case 'set':
            set(step.delayMs, step.againAfterMs);
            break;
          case 'cancel':
            timers[step.index]?.cancel();
            break;
          case 'stall':
            clock.stall(step.ms);
            break;
          case 'advance':
            advance(step.ms);
            break;
        }
        const pending = timers.filter(({ state }) => state === 'pending');
        assert.equal(clock.pendingTimers, pending.length);
        if (step.do === 'advance') assert.ok(pending.every(({ dueMs }) => dueMs > clock.monotonicMs()));
      }
    }),
    { numRuns: 1000 },
  );
});

/** A clock whose timers write down that they were called, and when. */
function recorded() {
  const clock = new SettableClock(NOW);
  const calls: string[] = [];
  const call = (name: string, delayMs: number): (() => void) =>
    clock.schedule(delayMs, () => calls.push(`${name} at ${clock.monotonicMs()}`));
  return { clock, calls, call };
}

/** A clock whose timers check, when they are called, that they should be. */
function observed() {
  const clock = new SettableClock(NOW);
  const timers: { dueMs: number; state: 'pending' | 'fired' | 'cancelled'; cancel: () => void }[] = [];
  let advancedFromMs = 0;
  let lastDueMs = 0;
  const set = (delayMs: number, againAfterMs?: number): void => {
    const dueMs = clock.monotonicMs() + delayMs;
    const stop = clock.schedule(delayMs, () => {
      assert.equal(timer.state, 'pending');
      assert.equal(clock.monotonicMs(), Math.max(dueMs, advancedFromMs));
      assert.ok(lastDueMs <= dueMs);
      timer.state = 'fired';
      lastDueMs = dueMs;
      if (againAfterMs !== undefined) set(againAfterMs);
    });
    const cancel = (): void => {
      stop();
      if (timer.state === 'pending') timer.state = 'cancelled';
    };
    const timer: (typeof timers)[number] = { dueMs, state: 'pending', cancel };
    timers.push(timer);
  };
  const advance = (ms: number): void => {
    advancedFromMs = clock.monotonicMs();
    clock.advance(ms);
  };
  return { clock, timers, set, advance };
}
