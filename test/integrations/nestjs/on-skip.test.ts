import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Inject, Injectable, type Type } from '@nestjs/common';
import { Cron, Interval } from '@nestjs/schedule';
import { JobSkippedError, SchedulerLock } from 'cronlatch';
import { guardBench } from '../../support/benches/guard';
import { beginAt, pass } from '../../support/clocks/mocked-ticks';
import { calling } from '../../support/jobs/both-modes';
import { RecordingLogger, startWith } from './application';

const JOB = { name: 'export-orders', lockAtMostFor: '1h', onSkip: 'throw' } as const;

@Injectable()
class Direct {
  @Cron('0 3 * * *', { timeZone: 'UTC' })
  @SchedulerLock(JOB)
  async exportOrders(): Promise<void> {}
}

@Injectable()
class Monitored {
  @Cron('0 3 * * *', { timeZone: 'UTC' })
  @calling
  @SchedulerLock(JOB)
  async exportOrders(): Promise<void> {}
}

@Injectable()
class Step {
  @SchedulerLock(JOB)
  async exportOrders(): Promise<void> {}
}

/** A handler of the application, which calls the method among others. */
@Injectable()
class Night {
  error: unknown;

  constructor(@Inject(Step) private readonly step: Step) {}

  @Cron('0 3 * * *', { timeZone: 'UTC' })
  async run(): Promise<void> {
    await this.step.exportOrders().catch((error: unknown) => (this.error = error));
  }
}

beforeEach(() => beginAt('2026-11-20T02:59:00Z'));
afterEach(() => mock.timers.reset());

/** Runs the tick of an application while another instance holds the lock. */
async function skippedTick(providers: Type[]) {
  const { guard, other, names } = guardBench();
  const logger = new RecordingLogger();
  await other.lock(JOB);
  const app = await startWith(guard, providers, logger);
  await pass(120_000);
  return { app, names, lines: logger.lines };
}

for (const jobs of [Direct, Monitored]) {
  void test(`${jobs.name}: a skipped tick of a method with onSkip 'throw' is not a failure for Nest, but a skipped call rejects`, async () => {
    const { app, names, lines } = await skippedTick([jobs]);
    assert.deepEqual([names(), lines], [['lock:skipped'], []]);
    await assert.rejects(app.get<Direct>(jobs).exportOrders(), JobSkippedError);
    await app.close();
  });
}

void test("a handler that calls a method with onSkip 'throw' gets its error in a tick, too", async () => {
  const { app, names } = await skippedTick([Step, Night]);
  assert.deepEqual(names(), ['lock:skipped']);
  assert.ok(app.get(Night).error instanceof JobSkippedError);
  await app.close();
});

void test("a method with @Interval and onSkip 'throw' is refused at the start, because Nest would log every skipped tick", async () => {
  @Injectable()
  class Every {
    @Interval(60_000)
    @SchedulerLock(JOB)
    async exportOrders(): Promise<void> {}
  }
  await assert.rejects(startWith(guardBench().guard, [Every]), {
    name: 'InvalidLockUseError',
    message:
      /^Every\.exportOrders has @Interval or @Timeout and onSkip: 'throw'.* Remove onSkip, or use @Cron\.$/,
  });
});
