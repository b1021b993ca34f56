/// <reference lib="esnext.disposable" preserve="true" />
import { EventHub, type CronlatchEvents, type EventName } from '../core';
import { configureJobGuard, type JobGuard, type JobGuardOptions } from '../guard';
import { configuredGuard } from '../guard/configured-guard';
import { createJobGuard, Memory, type InMemoryLockProvider } from '../integrations/memory';
import { SettableClock } from './settable-clock';

/** Pass the defaults and the `nameLength` of the application's guard. */
export interface TestGuardOptions extends Pick<
  JobGuardOptions,
  'defaultLockAtMostFor' | 'defaultLockAtLeastFor' | 'defaultKeepAlive' | 'defaultTimeZone' | 'nameLength'
> {
  /** The time of the clock at the start. Default: the host's time. */
  readonly now?: Date | string | number | undefined;
}

export interface TestGuard extends AsyncDisposable {
  readonly guard: JobGuard;
  /** Moves when the test moves it: `clock.advance('10m')`. */
  readonly clock: SettableClock;
  /** For locks that "another instance" holds: `await lockProvider.lock({ name, lockAtMostFor: '10m' })`. */
  readonly lockProvider: InMemoryLockProvider;
  /** For further guards that play other instances, and for `memory.failNext(error)`. Read its runs with `guard.ledger`. */
  readonly memory: Memory;
  /** Resolves to the next event of that name. */
  next<K extends EventName>(name: K): Promise<CronlatchEvents[K]>;
  /**
   * Closes the guard and configures the previous one again. The signal of a job that still runs aborts, and `dispose`
   * does not wait for that job.
   */
  dispose(): Promise<void>;
}

/**
 * Configures a guard whose locks and runs are in memory and whose clock the test moves. It logs nothing. It starts
 * overdue runs only when the test calls `await guard.runOverdue()`. Call `dispose` at the end of the test.
 */
export function useTestGuard({ now, nameLength, ...options }: TestGuardOptions = {}): TestGuard {
  const clock = new SettableClock(now);
  const memory = new Memory({ clock, nameLength });
  const events = new EventHub();
  const guard = createJobGuard(memory, { ...options, pollInterval: false, events, logger: false });
  const before = configuredGuard();
  configureJobGuard(guard, { replace: true });
  const restoreAndClose = async (): Promise<void> => {
    configureJobGuard(before, { replace: true });
    await guard.close({ timeout: 0 });
  };
  // Restores the previous guard only once, because another one may be configured by the time of a second call.
  let disposal: Promise<void> | undefined;
  const dispose = (): Promise<void> => (disposal ??= restoreAndClose());
  return {
    guard,
    clock,
    lockProvider: memory.lockProvider,
    memory,
    next: (name) => new Promise((resolve) => events.once(name, resolve)),
    dispose,
    [Symbol.asyncDispose]: dispose,
  };
}
