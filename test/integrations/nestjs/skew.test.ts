import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { Injectable } from '@nestjs/common';
import { Cron } from '@nestjs/schedule';
import { currentRun, OncePerDay, SchedulerLock, type CurrentRun } from 'cronlatch';
import type { Clock } from 'cronlatch/provider';
import { createJobGuard, Memory } from 'cronlatch/memory';
import { SettableClock } from 'cronlatch/testing';
import { sampleSize } from '../../support/checks/sample-size';
import { beginAt, pass } from '../../support/clocks/mocked-ticks';
import { startWith } from './application';

/** Midnight in Paris: 21 November begins. */
const MIDNIGHT = Date.parse('2026-11-20T23:00:00Z');
const MOST_SKEW_MS = 10_000;
const STEP_MS = sampleSize({ fast: 100, full: 1 });

const runs: CurrentRun[] = [];

@Injectable()
class Bank {
  @OncePerDay()
  @Cron('0 0 * * *', { timeZone: 'Europe/Paris' })
  @SchedulerLock('close-day', '1m')
  async close(): Promise<void> {
    await Promise.resolve(runs.push(currentRun()));
  }
}

/**
 * The wrong wall clock of a host, which drives the timers of `cron`, and which the guard compares with the
 * store's.
 */
function wrongClock(right: SettableClock): Clock {
  return {
    monotonicMs: () => right.monotonicMs(),
    wallMs: () => Date.now(),
    schedule: (delayMs, callback) => right.schedule(delayMs, callback),
  };
}

/**
 * Two hosts, the first as far ahead as the second is behind, share a store with a correct clock, across
 * midnight.
 */
async function nightOf(skewMs: number): Promise<string[]> {
  runs.length = 0;
  const clock = new SettableClock(new Date(MIDNIGHT - 60_000));
  const memory = new Memory({ clock });
  const warnings: string[] = [];
  for (const [behindMs, passesMs] of [
    [-skewMs, 60_000 - skewMs],
    [skewMs, 2 * skewMs],
  ] as const) {
    beginAt(clock.wallMs() - behindMs);
    const options = { clock: wrongClock(clock), pollInterval: false, logger: false } as const;
    const guard = createJobGuard(memory, options);
    guard.on('guard:warning', ({ message }) => void warnings.push(message));
    const app = await startWith(guard, [Bank]);
    // The host's own midnight comes, by its own clock.
    clock.advance(passesMs);
    await pass(passesMs);
    await app.close();
    mock.timers.reset();
  }
  assert.deepEqual(warnings, []);
  return runs.map(({ periodKey, scheduledAt }) => `${periodKey} ${scheduledAt?.toISOString()}`);
}

void test('with Nest, hosts up to 10 s ahead or behind run the scheduled midnight once (L-36)', async () => {
  for (let skewMs = 0; skewMs <= MOST_SKEW_MS; skewMs += STEP_MS) {
    assert.deepEqual(await nightOf(skewMs), ['2026-11-21 2026-11-20T23:00:00.000Z'], `${skewMs} ms`);
  }
});
