import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, mock, test } from 'node:test';
import { Controller, Injectable, Post, type Type } from '@nestjs/common';
import { Cron, Interval, ScheduleModule } from '@nestjs/schedule';
import { JobGuard, SchedulerLock } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import { foreignDecorator } from '../../support/jobs/both-modes';
import { refusedConnection } from '../../support/faults/accessor';
import {
  guardBench,
  nextEvent,
  reasonOf,
  withoutProcess,
  type GuardBench,
} from '../../support/benches/guard';
import { testWith } from '../../support/databases/fresh';
import { beginAt, pass } from '../../support/clocks/mocked-ticks';
import { application, databaseModule, RecordingLogger, startWith } from './application';

const NO_BANK = new Error('no bank today');

/** The errors that reach a monitoring decorator above the lock. */
const heard: unknown[] = [];
const monitored = foreignDecorator(
  (method) =>
    async function (this: unknown, ...args) {
      try {
        return await method.apply(this, args);
      } catch (error) {
        heard.push(error);
        throw error;
      }
    },
);

@Injectable()
class Failing {
  @Cron('* * * * * *')
  @SchedulerLock('failing', '1m', 0)
  async job(): Promise<void> {
    await Promise.reject(NO_BANK);
  }
}

@Injectable()
class Monitored {
  @Cron('* * * * * *')
  @monitored
  @SchedulerLock('monitored', '1m', 0)
  async job(): Promise<void> {
    await Promise.reject(NO_BANK);
  }
}

@Injectable()
class FailingInterval {
  @Interval(500)
  @SchedulerLock('failing-interval', '1m', 0)
  async job(): Promise<void> {
    await Promise.reject(NO_BANK);
  }
}

@Controller()
class Desk {
  @Post()
  @SchedulerLock('by hand', '1m')
  async job(): Promise<void> {
    await Promise.reject(NO_BANK);
  }
}

void describe('ticks of @Cron', () => {
  beforeEach(() => beginAt('2026-11-20T03:00:00Z'));
  afterEach(() => mock.timers.reset());

  /** Keeps an application running for so many seconds. */
  async function live(Jobs: Type, bench: GuardBench, seconds: number): Promise<readonly string[]> {
    const logger = new RecordingLogger();
    const app = await startWith(bench.guard, [Jobs], logger);
    for (let i = 0; i < seconds; i += 1) await pass(1000);
    await app.close();
    return logger.lines;
  }

  void test('a job that fails at its tick is reported once, by its guard, and later ticks follow', async () => {
    const bench = guardBench();
    assert.deepEqual(await live(Failing, bench, 2), []);
    assert.equal(bench.lines.length, 2);
    assert.match(
      bench.lines.join(),
      /run:failed: job 'failing' failed after \d+ ms \(scheduled at 2026-11-20T03:00:02.000Z\).*no bank today/,
    );
  });

  void test('a store that is down is reported once, by its guard, and the job runs when the store is up again', async () => {
    const bench = guardBench();
    bench.accessor.fail('updateRecord', refusedConnection, refusedConnection);
    assert.deepEqual(await live(Failing, bench, 3), []);
    // The second failure waits until the store answers a probe, and is then reported.
    assert.deepEqual(
      bench.lines.map((line) => line.split(': ', 2).join(': ')).sort(),
      ['lock:failed', 'lock:failed', 'run:failed'].map((event) => `error: cronlatch ${event}`),
    );
  });

  void test('decorators around the lock get its errors, and so does Nest', async () => {
    const lines = await live(Monitored, guardBench(), 1);
    assert.deepEqual(heard, [NO_BANK]);
    assert.deepEqual(lines, ['error [Scheduler] Error: no bank today']);
  });
});

void test('for @Interval and @Timeout Nest logs the error a second time, because their calls cannot be recognised', async () => {
  const { guard, lines } = guardBench();
  const logger = new RecordingLogger();
  const app = await startWith(guard, [FailingInterval], logger);
  await nextEvent(guard, 'run:failed');
  await nextEvent(guard, 'run:failed');
  await app.close();
  assert.ok(logger.lines.length > 0);
  assert.equal(lines.length, 2);
});

void test('a manual call rejects with the error of the job', async () => {
  const { guard } = guardBench();
  const app = await application({
    imports: [CronlatchModule.forRoot({ guard })],
    controllers: [Desk],
  });
  await app.init();
  assert.equal(await reasonOf(app.get(Desk).job()), NO_BANK);
  await app.close();
});

testWith('sqlite', 'the guard of the module logs its errors with the logger of Nest', async (database) => {
  const logger = new RecordingLogger();
  const imports = [databaseModule(database), ScheduleModule.forRoot(), CronlatchModule.forRoot()];
  const app = await application({ imports }, logger);
  await app.init();
  const guard = app.get(JobGuard);
  await reasonOf(guard.run({ name: 'close-day', lockAtMostFor: '1m' }, () => Promise.reject(NO_BANK)));
  await app.close();
  assert.match(
    logger.lines.join('\n'),
    /^error \[Cronlatch\] \S+\/\d+ run:failed: job 'close-day' failed after \d+ ms\. Cause: Error: no bank today$/,
  );
});

testWith('sqlite', 'Nest’s logger gets a line of log for each run, and none for a skip', async (database) => {
  const heard: string[] = [];
  const hear =
    (level: string) =>
    (message: string, context: string): void => {
      if (context === 'Cronlatch')
        heard.push(`${level}: ${withoutProcess(message).replace(/\d+ ms/, 'n ms')}`);
    };
  const logger = Object.assign(new RecordingLogger(), { log: hear('log'), debug: hear('debug') });
  const imports = [databaseModule(database), ScheduleModule.forRoot(), CronlatchModule.forRoot()];
  const app = await application({ imports }, logger);
  await app.init();
  const job = { name: 'close-day', lockAtMostFor: '1m', lockAtLeastFor: '30s' };
  for (const reason of [undefined, 'locked']) {
    const result = await app.get(JobGuard).run(job, () => {});
    assert.equal('reason' in result ? result.reason : undefined, reason);
  }
  await app.close();
  assert.deepEqual(heard, ["log: run:completed: job 'close-day' completed in n ms."]);
  assert.deepEqual(logger.lines, []);
});
