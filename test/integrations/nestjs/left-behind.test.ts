import assert from 'node:assert/strict';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { systemClock } from 'cronlatch/provider';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { beginAt, pass } from '../../support/clocks/mocked-ticks';
import { Messages } from '../../support/jobs/messages';
import { startWith } from './application';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';

/** The guard and its store use the time that the test sets. */
const clock = { ...systemClock, monotonicMs: () => Date.now() };
const messages = new Messages();

@Injectable()
class Settlement {
  readonly days: string[] = [];

  @OncePerDay({ timeZone: 'UTC' })
  @SchedulerLock('settle', '1m')
  async settle(): Promise<void> {
    await Promise.resolve(this.days.push(currentRun().periodKey));
  }
}

@Injectable()
class Timer {
  constructor(@Inject(Settlement) private readonly settlement: Settlement) {}

  @Cron('0 3 20 11 *', { timeZone: 'UTC' })
  open(): void {
    const timer = setInterval(() => {
      if (messages.isOver) clearInterval(timer);
      void messages.takeOne(() => this.settlement.settle());
    }, 1);
  }
}

@Injectable()
class Consumer {
  constructor(@Inject(Settlement) private readonly settlement: Settlement) {}

  @Cron('0 3 20 11 *', { timeZone: 'UTC' })
  open(): void {
    void messages.consume(() => this.settlement.settle());
  }
}

@Injectable()
class EndlessTick {
  constructor(@Inject(Settlement) private readonly settlement: Settlement) {}

  @Cron('0 3 20 11 *', { timeZone: 'UTC', waitForCompletion: true })
  async open(): Promise<void> {
    await messages.consume(() => this.settlement.settle());
  }
}

beforeEach(() => {
  messages.begin();
  beginAt('2026-11-20T02:59:00Z');
});
afterEach(() => {
  messages.end();
  mock.timers.reset();
});

const later = (minutes: number): Promise<void> => pass(minutes * 60_000);

for (const Job of [Timer, Consumer, EndlessTick]) {
  void test(`the scheduled time of a tick without a lock does not outlive the tick: ${Job.name} (F-91)`, async () => {
    const { guard } = guardOfRuns({ runStore: new InMemoryRunStore({ clock }), clock });
    const app = await startWith(guard, [Settlement, Job]);
    const { days } = app.get(Settlement);
    await later(2);
    await messages.send();
    await messages.send();
    assert.deepEqual(days, ['2026-11-20']);
    await later(24 * 60);
    await messages.send();
    await messages.send();
    assert.deepEqual(days, ['2026-11-20', '2026-11-21']);
    await app.close();
  });
}
