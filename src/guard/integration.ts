import type { EventHub, LockingTaskExecutor, TaskResult } from '../core';
import { isOncePer, type AdmittedJob, type Job, type JobCall } from './job';
import type { GuardConfiguration } from './job-guard-options';
import { needsLedger, type Admitted, type Declarations, type JobRegistry } from './job-registry';
import type { OncePerJobs } from './once-per-jobs';
import type { OverdueRuns } from './overdue-runs';
import { slotRunsOf, type SlotRuns } from './slots';

/** What a guard is made of. */
interface GuardParts {
  readonly registry: JobRegistry;
  readonly executor: LockingTaskExecutor;
  readonly events: EventHub;
  /** `undefined` without a run store. */
  readonly oncePer: OncePerJobs | undefined;
  readonly overdue: OverdueRuns | undefined;
}

/** What decorators and integrations need of a guard, and an application does not. */
export class GuardIntegration {
  #slots: SlotRuns | undefined;

  constructor(private readonly parts: GuardParts) {}

  /**
   * @param configuration must not change any more: it is compiled once
   * @throws InvalidLockConfigurationError as `guard.check` does
   */
  jobOf(configuration: GuardConfiguration): Job {
    return this.parts.registry.jobOf(configuration);
  }

  /**
   * Checks jobs, all or none, before their first tick. Overdue runs of once-per jobs start without a tick from then on.
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
    if (isOncePer(job)) return await this.oncePer(job.lock.name).run(job, call);
    return await this.parts.executor.runTask(call.task, job.lock, call.scheduledAt);
  }

  /** Reports the ticks that a scheduler has dropped in one stall. Those of admitted once-per jobs are retried. */
  dropTicks(job: AdmittedJob, ticks: readonly Date[], error: Error): void {
    const { executor, oncePer, events } = this.parts;
    if (executor.runs.closing) return;
    const isKept = ticks.map((scheduledAt) => isOncePer(job) && oncePer?.keepDropped(job, scheduledAt));
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
   * @throws InvalidLockConfigurationError when the guard has no run store
   */
  get slots(): SlotRuns {
    return (this.#slots ??= slotRunsOf(this.oncePer('guard.slots')));
  }

  /**
   * @param name of whoever needs the run store
   * @throws InvalidLockConfigurationError when the guard has none
   */
  oncePer(name: string): OncePerJobs {
    if (this.parts.oncePer !== undefined) return this.parts.oncePer;
    throw needsLedger(name);
  }
}
