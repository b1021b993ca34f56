import type {
  CronlatchEvents,
  EventHub,
  LockingTaskExecutor,
  SkipReason,
  TaskResult,
  TickDetails,
  TickEvent,
} from '../core';
import { skipIfDisabled } from './jobs/enabled';
import { isOncePer, type AdmittedJob, type Job, type JobCall } from './jobs/job';
import type { GuardConfiguration } from './job-guard-options';
import { needsLedger, type Admitted, type Declarations, type JobRegistry } from './jobs/job-registry';
import { lockOf } from './jobs/lock-name-of';
import type { OncePerJobRunner } from './once-per-job-runner';
import type { OverdueRuns } from './overdue-runs';
import { slotRunsOf, type SlotRuns } from './slots';

/** The parts of a guard. */
interface GuardParts {
  readonly registry: JobRegistry;
  readonly executor: LockingTaskExecutor;
  readonly events: EventHub;
  /** `undefined` without a run store. */
  readonly oncePerRunner: OncePerJobRunner | undefined;
  readonly overdue: OverdueRuns | undefined;
}

type TickEnd = Pick<TickEvent, 'outcome' | 'reason' | 'error'>;
type LostTicks = Omit<CronlatchEvents['lock:failed'], 'scheduledAt'>;

/** The interface of a guard for decorators and integrations. Applications do not need it. */
export class GuardIntegration {
  #slots: SlotRuns | undefined;

  constructor(private readonly parts: GuardParts) {}

  /**
   * @param configuration must not change any more, because it is compiled once
   * @throws InvalidLockConfigurationError as `guard.check` does
   */
  jobOf(configuration: GuardConfiguration): Job {
    return this.parts.registry.jobOf(configuration);
  }

  /**
   * Checks and registers jobs before their first tick, all or none. From then on, overdue runs of once-per jobs start
   * without a tick.
   *
   * @throws InvalidLockConfigurationError also for a name or a lock that another job has
   */
  admit<D extends Declarations>(declarations: D): Admitted<D> {
    const jobs = this.parts.registry.admit(declarations);
    if (jobs.some(isOncePer)) this.parts.overdue?.start();
    return jobs;
  }

  /** @throws as `guard.run` does */
  async execute<T>(job: Job, call: JobCall<T>): Promise<TaskResult<T>> {
    const tick: TickDetails = { scheduledAt: call.scheduledAt };
    let end: TickEnd = { outcome: 'completed' };
    try {
      const result = await this.#execute(job, call, tick);
      if (!result.executed) end = { outcome: 'skipped', reason: result.reason };
      else if (tick.reason !== undefined) end = { outcome: 'skipped' };
      return result;
    } catch (error) {
      end = { outcome: tick.durationMs === undefined ? 'lock-failed' : 'failed', error };
      throw error;
    } finally {
      const { scheduledAt } = tick;
      this.parts.events.emit('tick', { name: job.lock.name, ...tick, scheduledAt, ...end });
    }
  }

  async #execute<T>(job: Job, call: JobCall<T>, tick: TickDetails): Promise<TaskResult<T>> {
    if (isOncePer(job))
      return await this.requireOncePerRunner(`Job '${job.policy.job}' needs`).run(job, call, tick);
    const skipped = skipIfDisabled(job, call.scheduledAt, this.parts.events);
    if (skipped !== undefined) return skipped;
    const lock = lockOf(job, call, this.parts.events);
    return await this.parts.executor.runTask(call.task, lock, call.scheduledAt, tick);
  }

  /** Reports the ticks that a scheduler dropped in one stall. The guard retries those of admitted once-per jobs. */
  dropTicks(job: AdmittedJob, ticks: readonly Date[], error: Error): void {
    const { executor, oncePerRunner, events } = this.parts;
    const { name } = job.lock;
    const skip = (reason: SkipReason): void => {
      for (const scheduledAt of ticks) events.emit('tick', { name, scheduledAt, outcome: 'skipped', reason });
    };
    if (executor.runs.closing) return skip('closing');
    try {
      if (skipIfDisabled(job, ticks[0], events) !== undefined) return skip('disabled');
    } catch (failure) {
      // An event has reported it.
      for (const scheduledAt of ticks)
        events.emit('tick', { name, scheduledAt, outcome: 'lock-failed', error: failure });
      return;
    }
    const isKept = ticks.map((scheduledAt) => isOncePer(job) && oncePerRunner?.keepDropped(job, scheduledAt));
    this.reportLost({ name, willRetry: isKept.includes(true), error }, ticks);
  }

  /** Reports calls that have ended before their lock was requested. */
  reportLost(lost: LostTicks, scheduledTimes: readonly (Date | undefined)[]): void {
    const { events } = this.parts;
    const { name, error } = lost;
    events.emit('lock:failed', { ...lost, scheduledAt: scheduledTimes[0] });
    for (const scheduledAt of scheduledTimes)
      events.emit('tick', { name, scheduledAt, outcome: 'lock-failed', error });
  }

  warn(message: string): void {
    this.parts.events.emit('guard:warning', { message });
  }

  /**
   * For schedulers that elect one instance for each of their ticks.
   *
   * @throws InvalidLockConfigurationError if the guard has no run store
   */
  get slots(): SlotRuns {
    return (this.#slots ??= slotRunsOf(this.requireOncePerRunner('Distributed tasks need')));
  }

  /**
   * @param needing begins the message, for example `Job 'close-day' needs`
   * @throws InvalidLockConfigurationError if the guard has no run store
   */
  requireOncePerRunner(needing: string): OncePerJobRunner {
    if (this.parts.oncePerRunner !== undefined) return this.parts.oncePerRunner;
    throw needsLedger(needing);
  }
}
