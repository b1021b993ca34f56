import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Inject, Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock } from 'cronlatch';
import { guardOfRuns } from '../../support/benches/guard-of-runs';
import { reasonOf } from '../../support/benches/guard';
import { startWith } from './application';

const NO_BANK = new Error('no bank today');

@Injectable()
class Bank {
  isOpen = false;
}

@Injectable()
class Billing {
  readonly attempts: string[] = [];

  constructor(@Inject(Bank) private readonly bank: Bank) {}

  @Cron('0 3 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('close-day', '1m')
  @OncePerDay()
  async closeDay(): Promise<void> {
    const { periodKey, attempt } = currentRun();
    this.attempts.push(`${periodKey} ${attempt}`);
    await Promise.resolve();
    if (!this.bank.isOpen) throw NO_BANK;
  }
}

void test('a failed run is retried without a tick, on its own instance', async () => {
  const { guard, clock } = guardOfRuns();
  const app = await startWith(guard, [Bank, Billing]);
  const billing = app.get(Billing);
  assert.equal(await reasonOf(billing.closeDay()), NO_BANK);
  app.get(Bank).isOpen = true;
  clock.advance('2m');
  assert.deepEqual(await guard.runOverdue(), { started: 1, overdue: 0 });
  assert.deepEqual(billing.attempts, ['2026-11-20 1', '2026-11-20 2']);
  await app.close();
});
