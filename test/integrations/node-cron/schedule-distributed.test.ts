import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { NotConfiguredError } from 'cronlatch';
import { scheduleDistributed, scheduleLocked, type ScheduleDistributedOptions } from 'cronlatch/node-cron';
import { getTasks } from 'node-cron';
import { guardBench } from '../../support/benches/guard';
import { electorOf, SLOT } from '../../support/jobs/coordinators';
import { dayJob } from '../../support/jobs/day-job';
import { ledgerPlace, memoryStores, type Instance } from '../../support/stores/ledger-place';

let here: Instance;
let close: () => Promise<void>;
beforeEach(() => {
  const { place, close: closeAll } = ledgerPlace(memoryStores(SLOT));
  here = place.instance();
  close = closeAll;
});
afterEach(() => close());

const NIGHTLY = '0 3 * * *';

const REFUSED: [string, () => void, Partial<ScheduleDistributedOptions>, RegExp][] = [
  ['61 * * * *', () => {}, {}, /^"61 \* \* \* \*" is not a cron expression/],
  [NIGHTLY, () => {}, { timeZone: 'Mars' }, /^timeZone is "Mars"/],
  [NIGHTLY, () => {}, { name: '' }, /^"" cannot be/],
  [NIGHTLY, () => {}, { name: 'x'.repeat(65) }, /65 characters, more than 64/],
  [NIGHTLY, () => {}, { lockAtMostFor: 'soon' }, /lockAtMostFor of lock 'settle' is "soon"/],
  [
    NIGHTLY,
    () => {},
    { distributedLease: '6h' } as object,
    /^The option distributedLease of task 'settle' is gone: .+ Set lockAtMostFor/,
  ],
  [NIGHTLY, () => {}, { maxRandomDelay: -1 }, /^maxRandomDelay is -1/],
  [NIGHTLY, '/task.js' as never, {}, /^Task 'settle' is a file\. cronlatch distributes only functions/],
];

for (const [expression, task, more, message] of REFUSED) {
  void test(`${expression} of ${typeof task} with ${JSON.stringify(more)} is rejected, and no task is left`, () => {
    const options = { guard: here.guard, name: 'settle', ...more };
    assert.throws(() => scheduleDistributed(expression, task, options), {
      name: 'InvalidLockConfigurationError',
      message,
    });
    assert.equal(getTasks().size, 0);
  });
}

void test('the name of another task is rejected', () => {
  const { guard } = here;
  scheduleDistributed(NIGHTLY, () => {}, { guard, name: 'settle' });
  assert.throws(() => scheduleDistributed('0 4 * * *', () => {}, { guard, name: 'settle' }), {
    name: 'InvalidLockConfigurationError',
    message:
      /^Lock 'settle' is used by scheduleDistributed\('0 3 \* \* \*'\) and by scheduleDistributed\('0 4/,
  });
  assert.throws(() => scheduleLocked(NIGHTLY, { name: 'settle', lockAtMostFor: '1m' }, () => {}, { guard }), {
    message: /is used by scheduleDistributed/,
  });
  assert.equal(getTasks().size, 1);
});

void test('the name of a once-per job is rejected', () => {
  const { guard } = here;
  guard.wrap(dayJob(), () => {});
  assert.throws(() => scheduleDistributed(NIGHTLY, () => {}, { guard, name: 'close-day' }), {
    name: 'InvalidLockConfigurationError',
    message: /^Two once-per jobs have the name 'close-day'/,
  });
});

void test('a task needs a guard that is open, and that guard needs a ledger', async () => {
  const start = (more: Partial<ScheduleDistributedOptions>) => () =>
    scheduleDistributed(NIGHTLY, () => {}, { name: 'settle', ...more });
  assert.throws(start({}), NotConfiguredError);
  const { guard } = guardBench();
  assert.throws(start({ guard }), {
    name: 'InvalidLockConfigurationError',
    message: /^Distributed tasks need a ledger, but this guard has only locks/,
  });
  await here.guard.close();
  assert.throws(start({ guard: here.guard }), { name: 'InvalidLockUseError', message: /closed/ });
});

void test('a task’s name may contain colons, and may be a prefix of another name', async () => {
  const { guard } = here;
  const names = ['a', 'a:b', `a:${SLOT}`];
  for (const name of names) assert.equal(await electorOf(guard, name).asks(`${name}:${SLOT}`), true);
  const jobs = (await guard.ledger.list({ periodKey: SLOT })).map(({ job }) => job);
  assert.deepEqual(jobs.sort(), names.sort());
});

for (const key of ['settle', `settle${SLOT}`, 'settle:2026-11-20T03:00:00.000+'])
  void test(`the key '${key}' is rejected`, async () => {
    await assert.rejects(electorOf(here.guard).asks(key), {
      name: 'InvalidLockUseError',
      message: /is not a node-cron run key, which is '<task name>:<ISO instant>'\.$/,
    });
  });
