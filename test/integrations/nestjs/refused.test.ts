import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Inject,
  Injectable,
  Module,
  Scope,
  type ModuleMetadata,
  type Provider,
  type Type,
} from '@nestjs/common';
import { REQUEST } from '@nestjs/core';
import { Cron, Interval, ScheduleModule } from '@nestjs/schedule';
import { InvalidLockConfigurationError, InvalidLockUseError, OncePerDay, SchedulerLock } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import { guardBench, reasonOf } from '../../support/benches/guard';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { application, cronJobs, startWith } from './application';

@Injectable()
class Locked {
  @Cron('0 3 * * *')
  @SchedulerLock('close-day', '1m')
  async closeDay(): Promise<void> {}
}

/** The error at the start. The guard is closed then, so that nothing stays open. */
async function refusal(metadata: ModuleMetadata): Promise<Error> {
  const { guard } = guardOfRuns();
  const { imports = [], ...rest } = metadata;
  const cronlatch = CronlatchModule.forRoot({ guard });
  const app = await application({ imports: [ScheduleModule.forRoot(), cronlatch, ...imports], ...rest });
  const reason = (await reasonOf(app.init())) as Error;
  assert.equal(guard.isClosing, true);
  return reason;
}

void test('a lock on two methods is rejected, naming both', async () => {
  @Injectable()
  class Reports {
    @Interval(1000)
    @SchedulerLock('close-day', '1m')
    async send(): Promise<void> {}
  }
  const reason = await refusal({ providers: [Locked, Reports] });
  assert.ok(reason instanceof InvalidLockConfigurationError);
  assert.match(reason.message, /'close-day' is used by Locked\.closeDay and by Reports\.send/);
});

void test('a class that two modules provide has two instances, and is rejected', async () => {
  @Module({ providers: [Locked] })
  class First {}
  @Module({ providers: [Locked] })
  class Second {}
  const reason = await refusal({ imports: [First, Second] });
  assert.match(reason.message, /Locked\.closeDay \(First\) and by Locked\.closeDay \(Second\)/);
});

for (const [what, again] of [
  ['an instance with two tokens', { provide: 'alias', useExisting: Locked }],
  [
    'an instance that a factory provides again',
    { provide: 'again', useFactory: (locked: Locked) => locked, inject: [Locked] },
  ],
] as const)
  void test(`${what} causes a warning, because Nest schedules its jobs for each token`, async () => {
    const { guard, lines } = guardBench();
    const app = await startWith(guard, [Locked, again as Provider]);
    assert.equal(cronJobs(app).size, 2);
    await app.close();
    assert.match(lines.join(), /Locked\.closeDay .* under two tokens.* fires twice/);
  });

for (const [what, schedules, message] of [
  [
    'a job that two imports of ScheduleModule mount',
    // Nest 10 imports it once if both look the same.
    [ScheduleModule.forRoot(), ScheduleModule.forRoot({ timeouts: false })],
    /Locked\.closeDay is scheduled, but ScheduleModule\.forRoot\(\) is imported twice\..* two cron jobs call it at every tick/,
  ],
  [
    'a schedule that no module mounts',
    [],
    /Locked\.closeDay is scheduled, but nothing calls it. Import ScheduleModule/,
  ],
] as const)
  void test(`${what} causes a warning`, async () => {
    const { guard, lines } = guardBench();
    const imports = [...schedules, CronlatchModule.forRoot({ guard })];
    const app = await application({ imports, providers: [Locked] });
    await app.init();
    await app.close();
    assert.match(lines.join(), message);
  });

for (const [what, provider] of [
  ['request-scoped', { provide: Locked, useClass: Locked, scope: Scope.REQUEST }],
  ['transient', { provide: Locked, useClass: Locked, scope: Scope.TRANSIENT }],
] as const) {
  void test(`a ${what} class with a lock is rejected`, async () => {
    const reason = await refusal({ providers: [provider] });
    assert.ok(reason instanceof InvalidLockUseError);
    assert.match(
      reason.message,
      new RegExp(`Locked\\.closeDay has a lock, but its class is ${what}.*inject JobGuard`),
    );
  });
}

void test('a class that depends on a request-scoped provider is rejected as well', async () => {
  @Injectable()
  class OfRequest {
    constructor(@Inject(REQUEST) readonly request: unknown) {}
  }
  @Injectable()
  class Dependent {
    constructor(@Inject(OfRequest) readonly other: OfRequest) {}

    @SchedulerLock('dependent', '1m')
    async job(): Promise<void> {}
  }
  const reason = await refusal({ providers: [OfRequest, Dependent] });
  assert.match(reason.message, /Dependent\.job has a lock/);
});

void test('a once-per job whose @Cron has no zone needs its own timeZone', async () => {
  const reasonOfJob = async (Jobs: Type): Promise<string> => (await refusal({ providers: [Jobs] })).message;
  @Injectable()
  class OfHost {
    @Cron('0 3 * * *')
    @SchedulerLock('of-host', '1m')
    @OncePerDay()
    async job(): Promise<void> {}
  }
  @Injectable()
  class OfOffset {
    @SchedulerLock('of-offset', '1m')
    @OncePerDay()
    @Cron('0 3 * * *', { utcOffset: 60 })
    async job(): Promise<void> {}
  }
  assert.match(await reasonOfJob(OfHost), /Job 'of-host' needs a timeZone/);
  assert.match(await reasonOfJob(OfOffset), /Job 'of-offset' needs a timeZone/);
});

void test('importing the module twice is rejected', async () => {
  const reason = await refusal({ imports: [CronlatchModule.forRoot({ guard: guardBench().guard })] });
  assert.match(reason.message, /imported twice/);
});

void test('a scheduled method without a lock is ignored', async () => {
  @Injectable()
  class Unlocked {
    runs = 0;

    @Cron('0 3 * * *') // Not due during the test.
    async job(): Promise<void> {
      await Promise.resolve((this.runs += 1));
    }
  }
  const { guard, emitted } = guardBench();
  const app = await startWith(guard, [Unlocked]);
  const [job] = [...cronJobs(app).values()];
  await job?.fireOnTick();
  const { runs } = app.get(Unlocked);
  await app.close(); // A failed assertion before it would leave the timer, and the process would not end.
  assert.equal(runs, 1);
  assert.deepEqual(emitted, []);
});
