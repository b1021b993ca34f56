import { randomBytes } from 'node:crypto';
import type { LockedTask, LockingTaskExecutor, TaskResult } from '../../core';
import { momentOf, type Moment } from '../../core/clock';
import { CallReport } from '../../core/execution/event-hub';
import { callOption } from '../../core/options';
import type { RunKey } from '../../ledger';
import { checkScopeName, type JobPolicy } from '../../ledger/policy/job-policy';
import { intervalOf } from '../../ledger/periods/schedule';
import type { LedgerContext } from '../../ledger/store-statements';
import { periodOf, type TickOptions } from '../../ledger/tick/ledger-snapshot';
import { OncePerExecutor } from '../../ledger/tick/once-per-executor';
import { Tick, type TickRequest } from '../../ledger/tick/plan-tick';
import type { AdmittedOncePerJob, JobCall, OncePerJob } from '../jobs/job';
import type { JobRegistry } from '../jobs/job-registry';

/** Beyond this number, the oldest ticks are dropped. */
const MAX_TICKS_TO_RETRY = 1000;
/** A scheduler on another host may call a little before the time comes by the database's clock. */
const EARLY_MS = 30_000;

/** Runs the once-per jobs of one guard, and keeps the ticks that must be retried. */
export class OncePerJobRunner {
  readonly ticksToRetry = new TicksToRetry();
  readonly #executor: OncePerExecutor;

  constructor(
    readonly context: LedgerContext,
    readonly lockExecutor: LockingTaskExecutor,
    readonly registry: JobRegistry,
  ) {
    this.#executor = new OncePerExecutor(context, lockExecutor);
  }

  run<T>(job: OncePerJob, call: JobCall<T>, report: CallReport): Promise<TaskResult<T>> {
    return this.runTick(new Tick(this.#tickOf(job, call, report), report));
  }

  /** Keeps a dropped tick for a retry. `false`: its job is not admitted, or its scope is unknown. */
  keepDropped(job: AdmittedOncePerJob, report: CallReport): boolean {
    const { call } = job;
    try {
      const { scheduledAt } = report;
      const request = this.#tickOf(job, { task: call([]), args: [], call, scheduledAt }, report);
      if (request.willRetry) this.#keepForRetry(request);
      return request.willRetry;
    } catch {
      return false; // An event has reported why.
    }
  }

  /** A tick for the overdue runs of a job and scope. */
  overdueTick(job: AdmittedOncePerJob, scope: string): Tick<unknown> {
    const { lock, policy, call, expectation } = job;
    return this.tickOf({
      lock,
      policy,
      expectation,
      taskOf: taskOf(job, call),
      willRetry: this.#willRetry(job),
      task: () => undefined,
      scope,
      purpose: 'overdue',
    });
  }

  tickOf(request: TickRequest<unknown>): Tick<unknown> {
    return new Tick(request, new CallReport(this.context.events, request.lock, request.scheduledAt));
  }

  /** Keeps the tick of an admitted job for a retry if it was not answered. */
  async runTick<T>(tick: Tick<T>): Promise<TaskResult<T>> {
    const { request, report } = tick;
    let result: TaskResult<T> | undefined;
    try {
      return (result = await this.#executor.run(tick));
    } finally {
      const isAnswered =
        result?.executed === false && (report.isAnsweredBySkip || result.reason === 'closing');
      const isOpen = !tick.isRecorded && !tick.isFinal && !isAnswered;
      if (request.willRetry && request.purpose !== 'overdue' && isOpen) this.#keepForRetry(request);
    }
  }

  #tickOf<T>(
    job: OncePerJob,
    { task, args, call, at, invocation, scope: given, willRetry = this.#willRetry(job) }: JobCall<T>,
    report: CallReport,
  ): TickRequest<T> {
    const { lock, policy } = job;
    const scope = given ?? report.check(() => scopeOf(policy, args));
    const isFirst = invocation?.takeScheduledTime(policy.job, scope) ?? true;
    if (!isFirst) report.scheduledAt = undefined;
    const tick = policy.period.kind === 'tick' ? this.#tickOptionsOf(job, report, at) : undefined;
    return {
      lock,
      policy,
      expectation: this.registry.get(policy.job)?.expectation ?? {},
      task,
      taskOf: taskOf(job, call),
      scope,
      at,
      tick,
      willRetry: willRetry && (tick === undefined || tick.nextAfter !== undefined),
      scheduledAt: report.scheduledAt,
      receivedAt: momentOf(this.context.clock),
      purpose: 'tick',
      skip: () => this.registry.skipIfIdle(job, report),
    };
  }

  #tickOptionsOf({ policy }: OncePerJob, { scheduledAt }: CallReport, at: Date | undefined): TickOptions {
    const admitted = this.registry.get(policy.job);
    const everyMs = intervalOf(admitted?.schedules);
    const schedule = admitted?.expectation.schedule;
    const nextAfter = schedule && ((after: Date) => schedule.next(after));
    if (at !== undefined) return {};
    if (scheduledAt !== undefined) return { nextAfter };
    if (admitted?.takesNewestTime && schedule)
      return { nextAfter, timeOf: (now) => schedule.previous(new Date(now.getTime() + EARLY_MS)) ?? now };
    if (everyMs === undefined) return { id: randomBytes(3).toString('hex') };
    return {
      timeOf: (now) => new Date(Math.floor(now.getTime() / everyMs) * everyMs),
      nextAfter: (start) => new Date(start.getTime() + everyMs),
    };
  }

  #willRetry({ policy }: OncePerJob): boolean {
    return this.registry.get(policy.job) !== undefined;
  }

  #keepForRetry(request: TickRequest<unknown>): void {
    if (this.ticksToRetry.add(request)) return;
    this.context.events.warn(
      'More than 1,000 ticks are waiting to be retried. The oldest was dropped, and its period may count as missed.',
    );
  }
}

/** The task of another run than that of the call. */
function taskOf({ policy }: OncePerJob, call: JobCall<unknown>['call']) {
  return (run: RunKey): LockedTask<unknown> => call(policy.resume?.(run) ?? []);
}

/** Ticks that ended without a row for their period, one per job, scope and period. They are kept in memory only. */
class TicksToRetry {
  readonly #ticks = new Map<string, TickRequest<unknown>>();

  /** @returns `false` if an older tick had to be dropped */
  add(request: TickRequest<unknown>): boolean {
    const { policy, scope, at, scheduledAt, receivedAt } = request;
    const { key } = periodOf(request, at ?? scheduledAt ?? new Date(receivedAt?.wallMs ?? 0));
    const id = JSON.stringify([policy.job, scope, key, at ?? clockSetting(receivedAt)]);
    // A retry is only started while its job may run.
    if (!this.#ticks.has(id)) this.#ticks.set(id, { ...request, purpose: 'retry', skip: undefined });
    if (this.#ticks.size <= MAX_TICKS_TO_RETRY) return true;
    const [oldest = ''] = this.#ticks.keys();
    this.#ticks.delete(oldest);
    return false;
  }

  /** Removes and returns the ticks of one job and scope. A retry that fails adds its tick again. */
  take(job: string, scope: string): TickRequest<unknown>[] {
    const taken = [...this.#ticks].filter(([, { policy, scope: of }]) => policy.job === job && of === scope);
    for (const [id] of taken) this.#ticks.delete(id);
    return taken.map(([, request]) => request);
  }

  get all(): readonly TickRequest<unknown>[] {
    return [...this.#ticks.values()];
  }
}

/**
 * The minute that the wall clock showed when the monotonic clock began. It keeps ticks apart that a changed wall clock
 * puts into one period although they belong to two.
 */
function clockSetting(receivedAt: Moment | undefined): number | undefined {
  return receivedAt && Math.round((receivedAt.wallMs - receivedAt.monotonicMs) / 60_000);
}

/** @throws InvalidLockConfigurationError for an invalid scope, and when the function throws */
function scopeOf({ scope, job }: JobPolicy, args: readonly unknown[]): string {
  const failed = `The scope function of job '${job}' threw an error. It must return a scope for every call.`;
  const name = typeof scope === 'string' ? scope : callOption(() => scope(...(args as never[])), failed);
  checkScopeName(name, job);
  return name;
}
