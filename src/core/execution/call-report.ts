import type { LockConfiguration } from '../lock-configuration';
import {
  lockEventOf,
  type CronlatchEvents,
  type EventHub,
  type LockEvent,
  type RunIdentity,
  type RunSkipReason,
  type TickEvent,
} from './events';
import type { SkipReason, TaskResult } from './task-result';

export type Skipped = Extract<TaskResult<never>, { executed: false }>;
export type CallEnd = Pick<TickEvent, 'outcome' | 'reason' | 'error'>;

type Holder = Pick<CronlatchEvents['lock:skipped'], 'heldBy' | 'heldUntil'>;

/**
 * What one call of a job reports: why its handler was not called, and how the call ended. No other code emits `tick`,
 * `lock:skipped`, `lock:failed` and `run:skipped`.
 */
export class CallReport {
  /** Set as soon as it is known, as the next two are. */
  run: RunIdentity | undefined;
  /** Why the run does not count although its handler was called. */
  reason: RunSkipReason | undefined;
  /** The duration of the handler. */
  durationMs: number | undefined;
  /** Whether the guard retries the call if it fails now. */
  willRetry = false;
  /** A call that is skipped because of its lock is not retried. */
  isAnsweredBySkip = false;
  /** How the call ended. */
  end: CallEnd | undefined;

  constructor(
    private readonly events: EventHub,
    private readonly lock: LockConfiguration,
    public scheduledAt?: Date,
  ) {}

  get event(): LockEvent {
    return lockEventOf(this.lock, this.scheduledAt);
  }

  /** @param event names another lock than that of the job, if a function has named it */
  skip(reason: SkipReason, { heldBy, heldUntil }: Partial<Holder> = {}, event = this.event): Skipped {
    const willRetry = this.willRetry && !this.isAnsweredBySkip;
    this.events.emit('lock:skipped', { willRetry, reason, heldBy, heldUntil, ...event });
    return { executed: false, reason };
  }

  /** @param details.durationMs set if the handler was called */
  skipRun<R extends RunSkipReason>(
    run: RunIdentity | undefined,
    reason: R,
    { event = this.event, ...details }: { readonly event?: LockEvent; readonly durationMs?: number } = {},
  ): { readonly executed: false; readonly reason: R } {
    this.events.emit('run:skipped', { ...event, run, reason, ...details });
    return { executed: false, reason };
  }

  fail(error: unknown, event = this.event): void {
    this.events.emit('lock:failed', { ...event, willRetry: this.willRetry, error });
  }

  /** Calls what an option can make fail. */
  check<T>(call: () => T): T {
    try {
      return call();
    } catch (error) {
      this.fail(error);
      throw error;
    }
  }

  /** Reports the end of a call that `call` carries out. */
  async during<T>(call: () => Promise<TaskResult<T>>): Promise<TaskResult<T>> {
    let end: CallEnd = { outcome: 'completed' };
    try {
      const result = await call();
      if (!result.executed) end = { outcome: 'skipped', reason: result.reason };
      else if (this.reason !== undefined) end = { outcome: 'skipped', reason: this.reason };
      return result;
    } catch (error) {
      const { reason, durationMs } = this;
      if (reason !== undefined) end = { outcome: 'skipped', reason };
      else end = { outcome: durationMs === undefined ? 'lock-failed' : 'failed', error };
      throw error;
    } finally {
      this.endWith(end);
    }
  }

  endWith(end: CallEnd): void {
    const { run, durationMs } = this;
    this.end = end;
    const known = { ...(run && { run }), ...(durationMs !== undefined && { durationMs }) };
    this.events.emit('tick', { ...this.event, ...known, ...end });
  }
}
