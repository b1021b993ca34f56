import type { EventHub, LockingTaskExecutor, TaskResult } from '../core';
import { isOncePer, type AdmittedJob, type Job, type JobCall } from './job';
import type { GuardConfiguration } from './job-guard-options';
import { needsLedger, type Admitted, type Declarations, type JobRegistry } from './job-registry';
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
    if (isOncePer(job))
      return await this.requireOncePerRunner(`Job '${job.policy.job}' needs`).run(job, call);
    return await this.parts.executor.runTask(call.task, job.lock, call.scheduledAt);
  }

  /** Reports the ticks that a scheduler dropped in one stall. The guard retries those of admitted once-per jobs. */
  dropTicks(job: AdmittedJob, ticks: readonly Date[], error: Error): void {
    const { executor, oncePerRunner, events } = this.parts;
    if (executor.runs.closing) return;
    const isKept = ticks.map((scheduledAt) => isOncePer(job) && oncePerRunner?.keepDropped(job, scheduledAt));
    const [scheduledAt] = ticks;
    events.emit('lock:failed', {
      name: job.lock.name,
      scheduledAt,
      willRetry: isKept.includes(true),
      error,
    });
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
