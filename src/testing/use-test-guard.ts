/// <reference lib="esnext.disposable" preserve="true" />
import { EventHub, type CronlatchEvents, type Duration, type EventName } from '../core';
import { JobGuard, configureJobGuard } from '../guard';
import { configuredGuard } from '../guard/configured-guard';
import { InMemoryLockProvider, InMemoryRunStore } from '../storage/memory';
import { SettableClock } from './settable-clock';

export interface TestGuardOptions {
  /** What the clock shows at first. Default: the host's time. */
  readonly now?: Date | string | number | undefined;
  readonly defaultLockAtMostFor?: Duration | undefined;
  /** As that of the application's guard, where its lock names are longer than 64 characters. */
  readonly nameLength?: number | undefined;
}

export interface TestGuard extends AsyncDisposable {
  readonly guard: JobGuard;
  /** Moves by hand: `clock.advance('10m')`. */
  readonly clock: SettableClock;
  /** For a lock that "another instance" holds: `await lockProvider.lock({ name, lockAtMostFor: '10m' })`. */
  readonly lockProvider: InMemoryLockProvider;
  /** Of once-per jobs. What stands in it, `guard.ledger` tells. */
  readonly runStore: InMemoryRunStore;
  /** Resolves to the next event of that name. */
  next<K extends EventName>(name: K): Promise<CronlatchEvents[K]>;
  /**
   * Closes the guard and brings back the one that was configured before. A job that still runs is told to stop by its
   * signal, and is not waited for.
   */
  dispose(): Promise<void>;
}

/**
 * Configures a guard whose locks and runs are in memory and whose clock is set by the test, for the suite of an
 * application. It logs nothing, and brings back what is owed only when it is told: `await guard.runDue()`. Call
 * `dispose` afterwards.
 */
export function useTestGuard({ now, defaultLockAtMostFor, nameLength }: TestGuardOptions = {}): TestGuard {
  const clock = new SettableClock(now);
  const lockProvider = new InMemoryLockProvider({ clock, nameLength });
  const runStore = new InMemoryRunStore({ clock });
  const events = new EventHub();
  const guard = new JobGuard({
    lockProvider,
    runStore,
    dueEvery: false,
    clock,
    events,
    nameLength,
    defaultLockAtMostFor,
    logger: false,
  });
  const before = configuredGuard();
  configureJobGuard(guard, { replace: true });
  const restoreAndClose = async (): Promise<void> => {
    configureJobGuard(before, { replace: true });
    await guard.close({ timeout: 0 });
  };
  // Once: by a second call another guard may be configured.
  let disposal: Promise<void> | undefined;
  const dispose = (): Promise<void> => (disposal ??= restoreAndClose());
  return {
    guard,
    clock,
    lockProvider,
    runStore,
    next: (name) =>
      new Promise((resolve) => {
        const stop = events.on(name, (event) => {
          stop();
          resolve(event);
        });
      }),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
