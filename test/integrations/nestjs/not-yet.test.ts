import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inject, Injectable, type OnModuleInit } from '@nestjs/common';
import { Cron, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { CronlatchModule } from 'cronlatch/nestjs';
import { nextEvent, reasonOf } from '../../support/benches/guard';
import { guardOfRuns, type GuardOfRuns } from '../../support/benches/guard-of-runs';
import { turn } from '../../support/benches/lock';
import { application, startWith } from './application';

const NO_BANK = new Error('no bank today');

@Injectable()
class Bank {
  readonly attempts: string[] = [];

  @Cron('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('close-day', '1m')
  @OncePerDay()
  async closeDay(): Promise<void> {
    const { periodKey, attempt } = currentRun();
    if (this.attempts.push(`${periodKey} ${attempt}`) === 1) await Promise.reject(NO_BANK);
  }
}

/** Takes longer to start than the guard waits before it looks for overdue runs. */
@Injectable()
class SlowStart implements OnModuleInit {
  static wait = async (): Promise<void> => {};

  constructor(@Inject(Bank) readonly bank: Bank) {}

  async onModuleInit(): Promise<void> {
    await SlowStart.wait();
  }
}

/** Lets the timer of the guard fire, and the runs that it starts begin. */
async function aMinute({ clock }: GuardOfRuns): Promise<void> {
  clock.advance('1m');
  for (let i = 0; i < 50; i += 1) await turn();
}

void test('overdue runs start on their own instance after the application has started, and not while it starts', async () => {
  const bench = guardOfRuns({ pollInterval: '1m' });
  const { guard } = bench;
  const app = await application({
    imports: [ScheduleModule.forRoot(), CronlatchModule.forRoot({ guard })],
    providers: [Bank, SlowStart],
  });
  const { attempts } = app.get(Bank);
  SlowStart.wait = async () => {
    assert.equal(await reasonOf(app.get(Bank).closeDay()), NO_BANK);
    await aMinute(bench);
    await aMinute(bench);
    assert.deepEqual(attempts, ['2026-11-20 1']);
  };
  await app.init();
  const completed = nextEvent(guard, 'run:completed');
  await aMinute(bench);
  await completed;
  assert.deepEqual(attempts, ['2026-11-20 1', '2026-11-20 2']);
  await app.close();
});

@Injectable()
class Disabled {
  readonly attempts: number[] = [];

  @Cron('0 3 * * *', { name: 'nightly', timeZone: 'Europe/Paris', disabled: true })
  @SchedulerLock('close-day', '1m')
  @OncePerDay({ catchUp: 'latest' })
  async closeDay(): Promise<void> {
    if (this.attempts.push(this.attempts.length + 1) === 1) await Promise.reject(NO_BANK);
  }
}

void test('the overdue runs of a disabled job do not start until it is enabled', async () => {
  const bench = guardOfRuns();
  const { guard, clock } = bench;
  const app = await startWith(guard, [Disabled]);
  const { attempts } = app.get(Disabled);
  // It can be run by hand, and by instances on which it is not disabled.
  assert.equal(await reasonOf(app.get(Disabled).closeDay()), NO_BANK);
  clock.advance('2d');
  assert.deepEqual(await guard.runOverdue(), { started: 0, overdue: 0 });
  assert.deepEqual(attempts, [1]);
  app.get(SchedulerRegistry).getCronJob('nightly').start();
  assert.ok((await guard.runOverdue()).started > 0);
  await app.close();
});
