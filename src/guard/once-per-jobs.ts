import {
  InvalidLockConfigurationError,
  type LockedTask,
  type LockingTaskExecutor,
  type LockProvider,
  type TaskResult,
} from '../core';
import type { RunKey } from '../ledger';
import { periodAt } from '../ledger/periods/period';
import { checkScopeName, type JobPolicy } from '../ledger/policy/job-policy';
import type { LedgerContext } from '../ledger/store-statements';
import { hostTime, type HostTime } from '../ledger/tick/ledger-snapshot';
import { OncePerExecutor } from '../ledger/tick/once-per-executor';
import { newReport, type OncePerRequest, type Report } from '../ledger/tick/plan-tick';
import type { AdmittedJob, Job, JobCall, OncePer } from './job';
import type { JobRegistry } from './job-registry';

/** The oldest are dropped beyond this. */
const MOST_UNANSWERED = 1000;

/** The once-per jobs of one guard: their calls, and the ticks that were not answered. */
export class OncePerJobs {
  readonly unanswered = new UnansweredTicks();
  readonly #executor: OncePerExecutor;

  constructor(
    readonly context: LedgerContext,
    readonly lockExecutor: LockingTaskExecutor,
    lockProvider: LockProvider,
    readonly registered: JobRegistry,
  ) {
    this.#executor = new OncePerExecutor(context, lockExecutor, lockProvider);
  }

  async run<T>(job: OncePer<Job>, call: JobCall<T>): Promise<TaskResult<T>> {
    return await this.send(this.#tickOf(job, call));
  }

  /**
   * Keeps a tick that its scheduler has dropped, like one that was not answered.
   *
   * @returns whether it is retried: the job is admitted, and its scope is known
   */
  keepDropped(job: OncePer<AdmittedJob>, scheduledAt: Date): boolean {
    const { call } = job;
    try {
      const request = this.#tickOf(job, { task: call([]), args: [], call, scheduledAt });
      if (request.willRetry) this.#keep(request);
      return request.willRetry;
    } catch {
      return false; // An event has reported it.
    }
  }

  /** Starts the overdue runs of an admitted job in one scope. */
  overdueRequest(job: OncePer<AdmittedJob>, scope: string): OncePerRequest<unknown> {
    return { ...this.#requestOf(job, job.call), task: () => undefined, scope, purpose: 'overdue' };
  }

  /** A tick of an admitted job that is not answered is kept. */
  async send<T>(request: OncePerRequest<T>, report: Report = newReport()): Promise<TaskResult<T>> {
    let result: TaskResult<T> | undefined;
    try {
      return (result = await this.#executor.run(request, report));
    } finally {
      const isClosing = result?.executed === false && result.reason === 'closing';
      const isOpen = !report.isAnswered && !report.isOver && !isClosing;
      if (request.willRetry && request.purpose !== 'overdue' && isOpen) this.#keep(request);
    }
  }

  #tickOf<T>(job: OncePer<Job>, { task, args, call, at, scheduledAt, invocation }: JobCall<T>) {
    const { lock, policy } = job;
    try {
      const scope = scopeOf(policy, args);
      const isFirst = invocation?.serve(policy.job, scope) ?? true;
      return {
        ...this.#requestOf(job, call),
        ...{ task, scope, at, scheduledAt: isFirst ? scheduledAt : undefined },
        heard: hostTime(this.context.clock),
        purpose: 'tick' as const,
      };
    } catch (error) {
      this.context.events.emit('lock:failed', { name: lock.name, scheduledAt, willRetry: false, error });
      throw error;
    }
  }

  #requestOf({ lock, policy }: OncePer<Job>, call: JobCall<unknown>['call']) {
    return {
      ...{ lock, policy },
      resumed: (run: RunKey): LockedTask<unknown> => call(policy.resume?.(run) ?? []),
      willRetry: this.registered.get(policy.job) !== undefined,
    };
  }

  #keep(request: OncePerRequest<unknown>): void {
    if (this.unanswered.keep(request)) return;
    const message =
      'More than 1,000 ticks wait to be asked again: the oldest is dropped, and its period is a gap.';
    this.context.events.emit('guard:warning', { message });
  }
}

/** Ticks that ended without a row for their period: one each for a job, scope and period. They end with the process. */
class UnansweredTicks {
  readonly #ticks = new Map<string, OncePerRequest<unknown>>();

  /** @returns `false` when an older one had to be dropped */
  keep(request: OncePerRequest<unknown>): boolean {
    const { policy, scope, at, scheduledAt, heard } = request;
    const { key } = periodAt(at ?? scheduledAt ?? new Date(heard?.wallMs ?? 0), policy.period);
    const kept = JSON.stringify([policy.job, scope, key, at ?? clockSetting(heard)]);
    if (!this.#ticks.has(kept)) this.#ticks.set(kept, { ...request, purpose: 'again' });
    if (this.#ticks.size <= MOST_UNANSWERED) return true;
    const [oldest = ''] = this.#ticks.keys();
    this.#ticks.delete(oldest);
    return false;
  }

  /** Takes out those of one job and scope. A tick that is not answered again is kept again. */
  take(job: string, scope: string): OncePerRequest<unknown>[] {
    const taken = [...this.#ticks].filter(([, { policy, scope: of }]) => policy.job === job && of === scope);
    for (const [kept] of taken) this.#ticks.delete(kept);
    return taken.map(([, request]) => request);
  }

  get all(): readonly OncePerRequest<unknown>[] {
    return [...this.#ticks.values()];
  }
}

/** Which minute the wall clock showed when the monotonic one began: a clock that was set may put two days into one period. */
function clockSetting(heard: HostTime | undefined): number | undefined {
  return heard && Math.round((heard.wallMs - heard.monotonicMs) / 60_000);
}

/** @throws InvalidLockConfigurationError for an invalid scope, and when the function throws */
function scopeOf({ scope, job }: JobPolicy, args: readonly unknown[]): string {
  const name = typeof scope === 'string' ? scope : calledWith(scope, job, args);
  checkScopeName(name, job);
  return name;
}

function calledWith(scope: (...args: never[]) => string, job: string, args: readonly unknown[]): string {
  try {
    return scope(...(args as never[]));
  } catch (cause) {
    throw new InvalidLockConfigurationError(
      `The scope function of job '${job}' threw: it must return a scope for every call.`,
      { cause },
    );
  }
}
