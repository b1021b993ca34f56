import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { currentLock, currentRun, SchemaMismatchError, type CronlatchEvents } from 'cronlatch';
import type { EventName } from 'cronlatch/provider';
import { scheduleDistributed } from 'cronlatch/node-cron';
import { setLogger, type TaskContext } from 'node-cron';
import { signal } from '../../support/benches/executor';
import { beginAt, pass as tick, settled as settle } from '../../support/clocks/mocked-ticks';
import { SLOT } from '../../support/jobs/coordinators';
import {
  ledgerPlace,
  memoryStores,
  type Instance,
  type LedgerPlace,
} from '../../support/stores/ledger-place';

const NAME = 'settle';
const MINUTELY = '* * * * *';

/** The messages of node-cron itself. */
const complaints: string[] = [];
let place: LedgerPlace;
let close: () => Promise<void>;
let here: Instance;

beforeEach(() => {
  beginAt(Date.parse(SLOT) - 1000);
  const complain = (message: string | Error): void => void complaints.push(String(message));
  setLogger({ info: complain, debug: complain, warn: complain, error: complain });
  ({ place, close } = ledgerPlace(memoryStores(SLOT)));
  here = place.instance();
});
afterEach(async () => {
  await close();
  mock.restoreAll();
  mock.timers.reset();
  complaints.length = 0;
});

const next = <K extends EventName>(name: K): Promise<CronlatchEvents[K]> =>
  new Promise((resolve) => here.guard.on(name, resolve));

async function rowOf(periodKey = SLOT): Promise<(string | undefined)[]> {
  const run = await here.guard.ledger.get({ job: NAME, periodKey });
  return [run?.state, run?.reason];
}

const options = (more: object = {}) => ({ guard: here.guard, name: NAME, timeZone: 'UTC', ...more });

void test('a tick that succeeds is completed, with the value that its function returned', async () => {
  const dates: string[] = [];
  const task = (context: TaskContext): object => {
    dates.push(context.date.toISOString());
    return { paid: 3 };
  };
  scheduleDistributed(MINUTELY, task, options());
  const completed = next('run:completed');
  await tick(1000);
  const { name, scheduledAt, run } = await completed;
  assert.deepEqual([name, scheduledAt?.toISOString(), run?.periodKey], [NAME, SLOT, SLOT]);
  assert.deepEqual(dates, [SLOT]);
  assert.equal((await here.guard.ledger.last(NAME))?.result, '{"paid":3}');
  assert.equal(here.of('run:started').length, 1);
  assert.deepEqual(complaints, []);
});

void test('a tick that throws fails permanently, with its error, and the next one follows', async () => {
  let ticks = 0;
  const task = (): void => {
    ticks += 1;
    if (ticks === 1) throw new Error('no bank');
  };
  scheduleDistributed(MINUTELY, task, options());
  const failed = next('run:failed');
  await tick(1000);
  assert.match(String((await failed).error), /no bank/);
  const run = await here.guard.ledger.last(NAME);
  assert.deepEqual([run?.state, run?.reason, run?.nextAttemptAt], ['failed', 'exhausted', undefined]);
  assert.match(run?.error ?? '', /^Error: no bank\n/);
  await tick(60_000);
  assert.equal(ticks, 2);
  assert.deepEqual(complaints, ['Error: no bank']);
});

void test('a task that throws undefined has failed, too', async () => {
  // eslint-disable-next-line @typescript-eslint/prefer-promise-reject-errors -- jobs do such things
  const nothing = (): Promise<never> => Promise.reject(undefined);
  scheduleDistributed(MINUTELY, nothing, options());
  const failed = next('run:failed');
  await tick(1000);
  await failed;
  assert.deepEqual(await rowOf(), ['failed', 'exhausted']);
});

void test('one of two instances runs the tick, and the other’s task reports why it did not', async () => {
  const other = place.instance();
  const ran: string[] = [];
  const skipped: (string | undefined)[] = [];
  for (const [each, { guard }] of [here, other].entries()) {
    const task = scheduleDistributed(MINUTELY, () => ran.push(`instance ${each}`), options({ guard }));
    task.on('execution:skipped', ({ reason }) => void skipped.push(reason));
  }
  for (let minute = 0; minute < 3; minute += 1) await tick(minute === 0 ? 1000 : 60_000);
  assert.equal(ran.length, 3);
  assert.deepEqual(skipped, Array(3).fill('not-elected'));
});

void test('if the store fails no instance is elected, and the task reports that it did not run because of an error', async () => {
  const missing = new SchemaMismatchError('There is no table.', { outcome: 'nothing-ran' });
  mock.method(here.store, 'insert', () => Promise.reject(missing));
  const skipped: (string | undefined)[] = [];
  const task = scheduleDistributed(MINUTELY, () => assert.fail('ran'), options());
  task.on('execution:skipped', ({ reason }) => void skipped.push(reason));
  await tick(1000);
  assert.deepEqual(skipped, ['coordinator-error']);
  const [failed] = here.of('lock:failed');
  assert.deepEqual([failed?.name, failed?.willRetry, failed?.error], [NAME, false, missing]);
  assert.deepEqual(await here.guard.close(), { settled: [], abandoned: [] });
});

void test('a task that is stopped during its random delay gives its tick back, which then runs with its date', async () => {
  mock.method(Math, 'random', () => 0.5);
  const ran: string[] = [];
  const task = ({ date }: TaskContext): void => void ran.push(date.toISOString());
  const scheduled = scheduleDistributed(MINUTELY, task, options({ maxRandomDelay: 20_000 }));
  await tick(1000);
  assert.deepEqual(await rowOf(), ['running', undefined]);
  await scheduled.stop();
  await settle();
  assert.deepEqual([await rowOf(), ran], [['pending', undefined], []]);
  await tick(5000);
  await here.guard.runOverdue();
  assert.deepEqual([await rowOf(), ran], [['completed', undefined], [SLOT]]);
});

void test('a task that is stopped while it runs is completed', async () => {
  const end = signal();
  const task = scheduleDistributed(MINUTELY, () => end.promise, options());
  await tick(1000);
  await task.stop();
  const completed = next('run:completed');
  end.resolve();
  await completed;
  assert.deepEqual(await rowOf(), ['completed', undefined]);
});

void test('a tick that comes while the task runs is skipped, on each instance', async () => {
  const other = place.instance();
  const end = signal();
  const skipped: string[] = [];
  for (const { guard } of [here, other]) {
    const task = scheduleDistributed(MINUTELY, () => end.promise, options({ guard }));
    task.on('execution:skipped', ({ date, reason }) => {
      skipped.push(`${date.toISOString()} ${reason}`);
    });
  }
  await tick(1000);
  await tick(60_000);
  const second = '2026-11-20T03:01:00.000Z not-elected';
  assert.deepEqual(skipped, [`${SLOT} not-elected`, second, second]);
  assert.equal((await here.guard.ledger.list()).length, 1);
  end.resolve();
});

void test('its function has the run, its lock and its signal', async () => {
  const seen: unknown[] = [];
  const task = (): void => {
    const { periodKey, attempt } = currentRun();
    seen.push(periodKey, attempt, currentLock().name, currentLock().fencingToken !== undefined);
  };
  scheduleDistributed(MINUTELY, task, options());
  await tick(1000);
  assert.deepEqual(seen, [SLOT, 1, NAME, true]);
});

void test('a manual run is a run of its own', async () => {
  const task = scheduleDistributed(MINUTELY, () => 'by hand', options());
  assert.equal(await task.execute(), 'by hand');
  await settle();
  const [run] = await here.guard.ledger.list();
  assert.deepEqual([run?.state, run?.result], ['completed', '"by hand"']);
  assert.match(run?.periodKey ?? '', /#[0-9a-f]{6}$/);
});

void test('closing stops the task, and waits for the current tick and its outcome', async () => {
  const end = signal<string>();
  const task = scheduleDistributed(MINUTELY, () => end.promise, options());
  await tick(1000);
  const closing = here.guard.close();
  await settle();
  assert.equal(task.getStatus(), 'destroyed');
  end.resolve('done');
  assert.deepEqual(await closing, { settled: [NAME], abandoned: [] });
  assert.equal((await place.instance().guard.ledger.last(NAME))?.result, '"done"');
});

void test('a tick that is elected while the guard begins to close does not run', async () => {
  const { lockProvider } = here;
  const lock = lockProvider.lock.bind(lockProvider);
  let closing: Promise<unknown> | undefined;
  mock.method(lockProvider, 'lock', async (...request: Parameters<typeof lock>) => {
    closing = here.guard.close();
    return await lock(...request);
  });
  scheduleDistributed(MINUTELY, () => assert.fail('ran'), options());
  await tick(1000);
  await closing;
  assert.deepEqual(await place.instance().guard.ledger.list(), []);
});
