import { EventEmitter } from 'node:events';
import type { JobGuard } from 'cronlatch';
import { LedgerRunCoordinator } from 'cronlatch/node-cron';
import type { ScheduledTask, TaskContext } from 'node-cron';
import type { ServerBench } from '../benches/server';
import type { Instance, LedgerPlace } from '../stores/ledger-place';

export const SLOT = '2026-11-20T03:00:00.000Z';
export const KEY = `settle:${SLOT}`;

/** node-cron's coordinator interface on one instance. */
export interface Elector extends Instance {
  readonly coordinator: LedgerRunCoordinator;
  /** Whether it would run the tick. */
  readonly asks: (key?: string) => Promise<boolean>;
}

export function elector(place: LedgerPlace): Elector {
  const instance = place.instance();
  const coordinator = new LedgerRunCoordinator({ guard: instance.guard });
  return { ...instance, coordinator, asks: (key = KEY) => coordinator.shouldRun(key) };
}

/** A task of node-cron whose events the test emits. */
export class PretendedTask extends EventEmitter {
  readonly id = 'task-1';

  constructor(
    readonly name: string,
    coordinator: LedgerRunCoordinator,
  ) {
    super();
    coordinator.observe(this as unknown as ScheduledTask);
  }

  begin(at: string): void {
    this.emit('execution:started', this.#contextOf(at, {}));
  }

  end(at: string, outcome: { readonly result: unknown } | { readonly error: Error }): void {
    this.emit('error' in outcome ? 'execution:failed' : 'execution:finished', this.#contextOf(at, outcome));
  }

  #contextOf(at: string, outcome: object): TaskContext {
    const date = new Date(at);
    const execution = { id: at, reason: 'scheduled', ...outcome } as const;
    return { date, dateLocalIso: at, triggeredAt: date, execution };
  }
}

/** Closed at the end of the test, without waiting for the pretended ticks. */
export function closedAtOnce(bench: ServerBench, guard: JobGuard): JobGuard {
  bench.closeAtEnd({ close: () => guard.close({ timeout: 0 }) });
  return guard;
}
