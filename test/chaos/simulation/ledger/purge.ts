import type { Run } from 'cronlatch/provider';
import { periodAt, previousPeriod, type CalendarPeriod } from 'cronlatch/calendar';
import { createRun, type InMemoryRuns } from '#cronlatch/storage/memory/in-memory-runs';
import { InMemoryRunStore } from '#cronlatch/storage/memory/in-memory-run-store';
import { Random } from '#cronlatch/contracts/random';
import { overlay } from '../../../storage/contract-mutants/overlay';
import { keyTextOf } from '../../history/ledger/ledger-history';
import { EPOCH_MS, type LedgerWorld } from './ledger-world';
import type { SimulatedJob } from './simulated-job';
import type { RunStore } from '#cronlatch/ledger/run-store';

const OLDER_THAN_MS = 60_000;
const DAYS_AGO_MS = 30 * 86_400_000;

/**
 * In one of four schedules a job has completed some periods before the start, and another program purges them
 * while a transaction locks one of their rows. It has its own seed, so that it does not change other random
 * decisions.
 */
export function planPurge(world: LedgerWorld, seed: number, withinMs: number): void {
  const { jobs, scheduler, faults } = world;
  const random = new Random(seed ^ 0x5eed);
  if (seed % 4 !== 3) return;
  const dated = jobs.filter(({ periodAt, scopes }) => periodAt !== undefined && scopes.length === 1);
  if (dated.length === 0) return;
  faults.counts.set('purge', 1);
  const keys = completedBefore(world, random.pick(dated), random.integer(3, 6));
  scheduler.after(random.integer(1, withinMs), () => purge(world, random.pick([undefined, ...keys])));
}

/** @returns the keys of the periods */
function completedBefore(
  { runs, ledger, history, scheduler }: LedgerWorld,
  { job, configuration }: SimulatedJob,
  count: number,
): string[] {
  const { period } = configuration.oncePer;
  if (typeof period !== 'string' || period === 'tick') throw new Error(`Job '${job}' has no dated periods.`);
  const timeZone = 'UTC';
  const options = { kind: period, timeZone };
  const writtenAt = new Date(EPOCH_MS - DAYS_AGO_MS);
  const keys: string[] = [];
  let current: CalendarPeriod = periodAt(runs.now(), options);
  for (let left = count; left > 0; left -= 1) {
    current = previousPeriod(current, options);
    const { key: periodKey, start: periodStart, end: periodEnd } = current;
    const run = { job, scope: '', periodKey, periodStart, periodEnd, timeZone, state: 'skipped' } as const;
    const completed: Run = { ...createRun(run, writtenAt), state: 'completed' };
    runs.add({ run: completed, events: [] });
    const key = keyTextOf(run);
    const change = { key, job, by: undefined, before: undefined, after: completed };
    ledger.changes.push({ ...change, atMs: scheduler.nowMs, order: history.nextOrder() });
    keys.push(key);
  }
  return keys;
}

function purge({ runs, ledger, history, scheduler, breakage }: LedgerWorld, held: string | undefined): void {
  const withLock = overlay<InMemoryRuns>(runs, {
    delete: (key) => keyTextOf(key) !== held && runs.delete(key),
  });
  const right: RunStore = new InMemoryRunStore({ runs: withLock });
  const store = overlay(right, breakage.store?.(right, withLock) ?? {});
  const before = runs.rows().map(({ run }) => run);
  // In memory the purge is done before the call returns.
  void store.purge({ olderThanMs: OLDER_THAN_MS, limit: 100 }, { timeoutMs: 1000 });
  const left = new Set(runs.rows().map(({ run }) => keyTextOf(run)));
  for (const run of before) {
    const { job } = run;
    const key = keyTextOf(run);
    if (left.has(key)) continue;
    const change = { key, job, by: undefined, before: run, after: undefined };
    ledger.purged.push({ ...change, atMs: scheduler.nowMs, order: history.nextOrder() });
  }
  ledger.changes.push(...ledger.purged);
}
