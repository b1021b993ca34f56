import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Cron } from '@nestjs/schedule';
import { configureJobGuard, OncePerDay, SchedulerLock, type JobGuard } from 'cronlatch';
import { reasonOf } from '../../support/benches/guard';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { calling, foreignDecorator } from '../../support/jobs/both-modes';
import { startWith } from './application';
import { IN_TOKYO, ordersWith, outcomeOf } from './orders';

/** A decorator that copies the metadata to its function, as those for Nest do. */
const copying = foreignDecorator((method) => {
  async function wrapper(this: unknown, ...args: never[]): Promise<unknown> {
    return await method.apply(this, args);
  }
  for (const key of Reflect.getMetadataKeys(method))
    Reflect.defineMetadata(key, Reflect.getMetadata(key, method), wrapper);
  return wrapper;
});

void describe('the day is in the zone of the cron job, with a wrapper that copies metadata', () => {
  for (const [name, order] of ordersWith(() => copying as MethodDecorator))
    void test(name, async () => assert.deepEqual(await outcomeOf(order), IN_TOKYO));
});

void describe('a wrapper that copies nothing', () => {
  for (const [name, order] of ordersWith(() => calling as MethodDecorator)) {
    const isAbove = (one: string, other: string): boolean => name.indexOf(one) < name.indexOf(other);
    if (!isAbove('the wrapper', '@Cron')) {
      void test(`the day is in the zone of the cron job: ${name}`, async () =>
        assert.deepEqual(await outcomeOf(order), IN_TOKYO));
    } else if (isAbove('the wrapper', '@SchedulerLock') || isAbove('the wrapper', '@OncePerDay')) {
      void test(`a warning names the job, because Nest does not mount it: ${name}`, async () => {
        const { dates, warnings } = await outcomeOf(order);
        assert.deepEqual(dates, []);
        assert.match(
          warnings.join(),
          /^Jobs\.closeDay is scheduled, but another decorator hides this from Nest/,
        );
      });
    }
    // Otherwise nothing below the wrapper is of cronlatch, so neither Nest nor cronlatch finds the schedule.
  }
});

void test('the zone is that of the cron job also if a guard is configured before Nest has found the job', async () => {
  const prepare = (guard: JobGuard): void => configureJobGuard(guard, { replace: true });
  const orders = ordersWith(() => calling as MethodDecorator).filter(([name]) =>
    name.startsWith('@Cron above the'),
  );
  for (const [, order] of orders) assert.deepEqual(await outcomeOf(order, { prepare }), IN_TOKYO);
  configureJobGuard(undefined);
});

void test('the start fails with the name of a wrapped job if its cron job has no time zone and the guard has no default', async () => {
  class Jobs {
    @Cron('0 3 * * *')
    @calling
    @SchedulerLock('no-zone', '1m')
    @OncePerDay()
    async closeDay(): Promise<void> {}
  }
  const { guard } = guardOfRuns();
  const reason = (await reasonOf(startWith(guard, [Jobs]))) as Error;
  assert.match(reason.message, /Job 'no-zone' needs a timeZone/);
  assert.equal(guard.isClosing, true);
});
