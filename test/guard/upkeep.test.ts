import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EventHub } from 'cronlatch/provider';
import { SettableClock } from 'cronlatch/testing';
import { Upkeep, type Service } from '#cronlatch/guard/upkeep/upkeep';
import { warningsOf } from '../support/benches/guard';
import { turn } from '../support/benches/lock';

function upkeepOf(...services: Service[]) {
  const [clock, events] = [new SettableClock(), new EventHub()];
  const warnings = warningsOf(events);
  const upkeep = new Upkeep(services, { clock, events, pollIntervalMs: 60_000 });
  /** Passes one poll interval. */
  const poll = async (): Promise<void> => {
    clock.advance('1m');
    await turn();
  };
  return { upkeep, warnings, poll };
}

/** A service that counts its runs. */
function counting(run: (runs: number) => Promise<void>): Service & { runs: number } {
  const service = {
    failure: 'It failed.',
    runs: 0,
    run: () => run((service.runs += 1)),
  };
  return service;
}

void test('a service that hangs is not run again, and stops no other one', async () => {
  const hanging = counting(() => new Promise(() => {}));
  const other = counting(() => Promise.resolve());
  const { upkeep, poll } = upkeepOf(hanging, other);
  upkeep.start();
  for (const _ of [1, 2, 3]) await poll();
  assert.deepEqual([hanging.runs, other.runs], [1, 3]);
});

void test('a failure of a service is a warning, and the next one only after it has worked again', async () => {
  const failing = counting((runs) => (runs === 3 ? Promise.resolve() : Promise.reject(new Error('away'))));
  const { upkeep, poll, warnings } = upkeepOf(failing);
  upkeep.start();
  for (const expected of [1, 1, 1, 2, 2]) {
    await poll();
    assert.equal(warnings.length, expected, `poll ${failing.runs}`);
  }
  assert.deepEqual(warnings, ['It failed.', 'It failed.']);
});

void test('a service with an interval of its own begins without a start, and runNow() leaves it out', async () => {
  const polled = counting(() => Promise.resolve());
  const daily = { ...counting(() => Promise.resolve()), everyMs: 120_000, firstAfterMs: 60_000 };
  let runs = 0;
  const { upkeep, poll } = upkeepOf(polled, { ...daily, run: () => Promise.resolve(void (runs += 1)) });
  await upkeep.runNow();
  for (const expected of [1, 1, 2, 2, 3]) {
    await poll();
    assert.equal(runs, expected);
  }
  assert.equal(polled.runs, 1);
});

void test('a stop waits for the services that it stops, and ends all timers', async () => {
  let end = (): void => {};
  const stoppable = {
    ...counting(() => Promise.resolve()),
    run: () => new Promise<void>((resolve) => (end = resolve)),
    stop: () => setImmediate(() => end()),
  };
  const other = counting(() => Promise.resolve());
  const { upkeep, poll } = upkeepOf(stoppable, other);
  upkeep.start();
  await poll();
  await upkeep.stop();
  await poll();
  assert.equal(other.runs, 1);
  assert.deepEqual(await upkeep.runNow(), { started: 0, overdue: 0 });
});

void test('a service whose close hangs keeps no other one from closing', async () => {
  let closed = 0;
  const closing = { ...counting(() => Promise.resolve()), close: () => Promise.resolve(void (closed += 1)) };
  const hanging = { ...counting(() => Promise.resolve()), close: () => new Promise<void>(() => {}) };
  const { upkeep } = upkeepOf(closing, hanging, closing);
  void upkeep.close();
  await turn();
  assert.equal(closed, 2);
});
