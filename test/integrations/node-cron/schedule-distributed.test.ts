import assert from 'node:assert/strict';
import { afterEach, beforeEach, test } from 'node:test';
import { scheduleDistributed, scheduleLocked, type ScheduleDistributedOptions } from 'cronlatch/node-cron';
import { getTasks } from 'node-cron';
import { SLOT } from '../../support/jobs/coordinators';
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
