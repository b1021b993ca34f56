import type { JobGuard } from 'cronlatch';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import type { ServerBench } from '../benches/server';
import type { Instance, LedgerPlace } from '../stores/ledger-place';

export const SLOT = '2026-11-20T03:00:00.000Z';
export const KEY = `settle:${SLOT}`;
export const LEASE_MS = 60_000;

/** node-cron's coordinator interface on one instance. */
export interface Elector extends Instance {
  readonly coordinator: LedgerRunCoordinator;
  /** Whether it would run the tick. */
  readonly asks: (key?: string) => Promise<boolean>;
}

export function elector(place: LedgerPlace): Elector {
  const instance = place.instance();
  const coordinator = new LedgerRunCoordinator({ guard: instance.guard });
  return { ...instance, coordinator, asks: (key = KEY) => coordinator.shouldRun(key, LEASE_MS) };
}

/** Closed at the end of the test, without waiting for the pretended ticks. */
export function closedAtOnce(bench: ServerBench, guard: JobGuard): JobGuard {
  bench.closeAtEnd({ close: () => guard.close({ timeout: 0 }) });
  return guard;
}
