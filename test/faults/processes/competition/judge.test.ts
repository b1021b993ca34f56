import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { judge, MachineTooSlowError, pronounce, type Rules } from './judge';
import type { WitnessRecord } from './witness';

const RULES: Rules = { workers: 2, locks: ['job'], ticks: 2, lockAtLeastForMs: 1500, fewestExact: 2 };
const TICK_MS = 3000;

/** `1 b enter 20`: 20 ms after the tick 1, worker b entered its run. */
function records(...texts: string[]): WitnessRecord[] {
  return texts.map((text) => {
    const [tick, worker = '', event, afterMs] = text.split(' ');
    return {
      event: event as WitnessRecord['event'],
      worker: 'ab'.indexOf(worker),
      lock: 'job',
      tick: Number(tick),
      atMs: Number(tick) * TICK_MS + Number(afterMs),
      ...(event === 'fired' ? { lateMs: Number(afterMs) } : {}),
      ...(event === 'failed' ? { error: 'the disk is full' } : {}),
    };
  });
}

const ran = (tick: number, worker: string, fromMs: number, untilMs: number): string[] => [
  `${tick} ${worker} fired ${fromMs - 5}`,
  `${tick} ${worker} enter ${fromMs}`,
  `${tick} ${worker} leave ${untilMs}`,
  `${tick} ${worker} answered ${untilMs + 5}`,
];
const refused = (tick: number, worker: string, firedMs: number, answeredMs = firedMs + 5): string[] => [
  `${tick} ${worker} fired ${firedMs}`,
  `${tick} ${worker} answered ${answeredMs}`,
];
const asItShouldBe = (tick: number): string[] => [...ran(tick, 'a', 10, 100), ...refused(tick, 'b', 20)];

const verdictOn = (...texts: string[]) => judge(records(...texts), RULES);

void suite('the judge of a competition', () => {
  void test('one run per tick causes no complaint', () => {
    const verdict = verdictOn(...asItShouldBe(0), ...ran(1, 'b', 10, 100), ...refused(1, 'a', 190));
    assert.deepEqual(verdict, { complaints: [], exact: 2, runs: 2, latestFiringMs: 190, slowestMs: 190 });
    pronounce(verdict, RULES);
  });

  void test('two runs at the same time overlap', () => {
    const verdict = verdictOn(...asItShouldBe(0), ...ran(1, 'a', 10, 100), ...ran(1, 'b', 99, 200));
    assert.deepEqual(verdict.complaints, [
      'job: worker 1 entered at tick 1 while worker 0 was inside.',
      'job at tick 1: worker 1 ran, too, after worker 0.',
    ]);
    assert.throws(() => pronounce(verdict, RULES), /worker 1 entered at tick 1/);
  });

  void test('a run that outlasts its tick overlaps the runs of the next tick, also with others between them', () => {
    const { complaints } = verdictOn(
      ...ran(0, 'a', 10, 4000),
      ...ran(0, 'b', 2000, 2100),
      ...ran(1, 'b', 10, 100),
    );
    assert.deepEqual(complaints, [
      'job: worker 1 entered at tick 0 while worker 0 was inside.',
      'job: worker 1 entered at tick 1 while worker 0 was inside.',
    ]);
  });

  void test('a second run soon after the first one ended is a duplicate', () => {
    const { complaints } = verdictOn(...asItShouldBe(0), ...ran(1, 'a', 10, 100), ...ran(1, 'b', 150, 200));
    assert.deepEqual(complaints, ['job at tick 1: worker 1 ran, too, after worker 0.']);
  });

  void test('a second run is a duplicate even if another worker was answered too late', () => {
    const three = { ...RULES, workers: 3 };
    const late = records(...refused(1, 'a', 5, 1600)).map((record) => ({ ...record, worker: 2 }));
    const others = records(...asItShouldBe(0), ...ran(1, 'a', 10, 100), ...ran(1, 'b', 150, 200));
    const { complaints, exact } = judge([...others, ...late], three);
    assert.deepEqual(complaints, ['job at tick 1: worker 1 ran, too, after worker 0.']);
    assert.equal(exact, 0);
  });

  void test('a tick without a run is missing', () => {
    const verdict = verdictOn(...asItShouldBe(0), ...refused(1, 'a', 10), ...refused(1, 'b', 20));
    assert.deepEqual(verdict.complaints, ['job at tick 1: no worker ran.']);
  });

  void test('a run that never ended, and a call that rejected, are reported', () => {
    const { complaints } = verdictOn(
      ...asItShouldBe(0),
      ...['1 a fired 5', '1 a enter 10', '1 b fired 5', '1 b failed 10'],
    );
    assert.deepEqual(complaints, [
      'job at tick 1: worker 0 never left.',
      'job at tick 1: worker 1: the disk is full',
    ]);
  });
});

void suite('a tick that the machine disturbed is not judged as exact', () => {
  const tooSlow = (...ofTick1: string[]): void => {
    const verdict = verdictOn(...asItShouldBe(0), ...ofTick1);
    assert.deepEqual([verdict.complaints, verdict.exact], [[], 1]);
    assert.throws(() => pronounce(verdict, RULES), MachineTooSlowError);
    pronounce(verdict, { ...RULES, fewestExact: 1 });
  };

  void test('a worker that fired after lockAtLeastFor may run again', () =>
    tooSlow(...ran(1, 'a', 10, 100), ...ran(1, 'b', 1600, 1700)));

  void test('a worker that was answered after lockAtLeastFor may run again', () =>
    tooSlow(...ran(1, 'a', 10, 100), '1 b fired 20', ...ran(1, 'b', 1600, 1700).slice(1)));

  void test('a worker that did not fire leaves the result open', () => tooSlow(...ran(1, 'a', 10, 100)));

  void test('a lock that an earlier run still holds need not be granted', () => {
    const verdict = verdictOn(
      ...ran(0, 'a', 10, 100),
      ...ran(0, 'b', 2500, 2600),
      ...refused(1, 'a', 10),
      ...refused(1, 'b', 20),
    );
    assert.deepEqual([verdict.complaints, verdict.exact], [[], 0]);
  });

  void test('no records at all are too few', () =>
    assert.throws(() => pronounce(judge([], RULES), RULES), MachineTooSlowError));
});
