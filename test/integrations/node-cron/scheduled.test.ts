// More of this subject: faults/integrations/node-cron, bench/torture.test.ts, docs/node-cron.test.ts
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { inspect } from 'node:util';
import { SchedulerLock } from 'cronlatch';
import type { CronSchedule } from '#cronlatch/integrations/node-cron/cron-schedule';
import { Scheduled } from 'cronlatch/node-cron';
import { schedulesOf } from '#cronlatch/guard/calls/guarded-method';

const EXPRESSIONS: [string, RegExp][] = [
  ['', /^"" is not a cron expression/],
  ['every day', /^"every day" is not a cron expression/],
  ['* * * *', /"\* \* \* \*" is not a cron expression: expected 5 or 6 fields but got 4/],
  ['60 * * * *', /"60 \* \* \* \*" is not a cron expression: .* for minute/],
  ['0 24 * * *', /for hour/],
  ['0 0 31 2 *', /"0 0 31 2 \*" is not a cron expression/],
  ['0 0 30W 2 *', /The cron expression "0 0 30W 2 \*" never fires/],
  ['0 0 L-30 4 *', /no date matches/],
];

for (const [expression, message] of EXPRESSIONS) {
  void test(`@Scheduled rejects the expression '${expression}'`, () => {
    assert.throws(() => Scheduled(expression), { name: 'InvalidLockConfigurationError', message });
  });
}

for (const expression of ['0 3 * * *', '*/5 * * * * *', '@daily', '0 0 L * *', '0 0 29 2 *']) {
  void test(`@Scheduled accepts the expression '${expression}'`, () => {
    assert.doesNotThrow(() => Scheduled(expression));
  });
}

const NO_ZONE = "which is not an IANA time zone, such as 'Europe/Paris'.";
const NO_TIME = 'It must be a number of milliseconds that is not negative.';
const TOO_LONG = 'A timer cannot wait longer than 2147483647 milliseconds.';

for (const [options, message] of [
  [{ timeZone: 'Europe/Pari' }, `timeZone is "Europe/Pari", ${NO_ZONE}`],
  [{ timeZone: '' }, `timeZone is "", ${NO_ZONE}`],
  [{ timeZone: 'CEST+2' }, `timeZone is "CEST+2", ${NO_ZONE}`],
  [{ missedExecutionTolerance: -1 }, `missedExecutionTolerance is -1. ${NO_TIME}`],
  [{ missedExecutionTolerance: NaN }, `missedExecutionTolerance is NaN. ${NO_TIME}`],
  [{ maxRandomDelay: -1 }, `maxRandomDelay is -1. ${NO_TIME}`],
  [{ maxRandomDelay: NaN }, `maxRandomDelay is NaN. ${NO_TIME}`],
  [{ maxRandomDelay: Infinity }, `maxRandomDelay is Infinity. ${TOO_LONG}`],
  [{ maxRandomDelay: 2 ** 31 }, `maxRandomDelay is 2147483648. ${TOO_LONG}`],
] as const)
  void test(`@Scheduled rejects ${inspect(options)}`, () => {
    const refused = { name: 'InvalidLockConfigurationError', message };
    assert.throws(() => Scheduled('0 3 * * *', options), refused);
  });

class Jobs {
  @Scheduled('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('above', '1m')
  async above(): Promise<void> {}

  @SchedulerLock('below', '1m')
  @Scheduled('0 3 * * *', { timeZone: 'Europe/Paris' })
  async below(): Promise<void> {}

  @Scheduled('0 3 * * *')
  @SchedulerLock('between', '1m')
  @Scheduled('0 4 * * *')
  @Scheduled('0 5 * * *')
  async between(): Promise<void> {}
}

void test('a function in a field of several instances is scheduled only once by @Scheduled', () => {
  const shared = async (): Promise<void> => {};
  type Field = ClassFieldDecoratorContext<object, typeof shared>;
  const context = { kind: 'field', name: 'job', private: false, static: false } as Field;
  const initialize = Scheduled('0 3 * * *')(undefined, context);
  for (const instance of [{}, {}]) assert.equal(initialize.call(instance, shared), shared);
  assert.equal(schedulesOf(shared).length, 1);
});

const found = (method: keyof Jobs): string[] =>
  schedulesOf(Reflect.get(Jobs.prototype, method)).map((each) =>
    'expression' in each ? each.expression : '',
  );

void test('@Scheduled may stand above or below the lock', () => {
  for (const method of ['above', 'below'] as const) {
    const [schedule] = schedulesOf(Reflect.get(Jobs.prototype, method)) as [CronSchedule];
    assert.deepEqual([schedule.expression, schedule.timeZone], ['0 3 * * *', 'Europe/Paris']);
  }
});

void test('@Scheduled may stand several times on a method, on both sides of the lock', () => {
  assert.deepEqual(found('between').sort(), ['0 3 * * *', '0 4 * * *', '0 5 * * *']);
});
