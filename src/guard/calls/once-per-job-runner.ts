import { randomBytes } from 'node:crypto';
import type { LockedTask, LockingTaskExecutor, TaskResult } from '../../core';
import { momentOf, type Moment } from '../../core/clock';
import { CallReport } from '../../core/execution/event-hub';
import { checkStoredName } from '../../core/lock-name';
import { callOption } from '../../core/options';
import type { RunKey } from '../../ledger';
import { NEVER, type Expectation } from '../../ledger/expected';
import type { JobPolicy } from '../../ledger/policy/job-policy';
import { intervalOf } from '../../ledger/periods/schedule';
import { LONGEST_KEY } from '../../ledger/run';
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

/** A job and scope that may have overdue runs. */
export interface JobScope {
  readonly job: AdmittedOncePerJob;
  readonly scope: string;
  /** A scheduled time that no tick has answered, by the database's clock. */
  readonly madeUp?: { readonly at: Date; readonly expectation: Expectation } | undefined;
}

/** Runs the once-per jobs of one guard, and keeps the ticks that must be retried. */
export class OncePerJobRunner {
  /** Ticks that ended without a row for their period, one per job, scope and period. They are kept in memory only. */
  readonly ticksToRetry = new Map<string, TickRequest<unknown>>();
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
      const request = this.#tickOf(job, { task: call([]), args: [], call }, report);
      if (request.willRetry) this.#keepForRetry(request);
      return request.willRetry;
    } catch {
      return false; // An event has reported why.
    }
  }

  /**
   * The ticks of a job and scope that must be retried, or else one that makes up a scheduled time, or for its overdue runs. Each
   * also starts the other overdue runs of its job. A retry that fails is kept again.
   */
  takeOverdue({ job, scope, madeUp }: JobScope): Tick<unknown>[] {
    const { lock, policy, call } = job;
    const kept = [...this.ticksToRetry].filter(
      ([, request]) => request.policy.job === policy.job && request.scope === scope,
    );
    for (const [id] of kept) this.ticksToRetry.delete(id);
    const requests = kept.map(([, request]) => request);
    const { at: scheduledAt = NEVER, expectation = job.expectation } = madeUp ?? {};
    const run = taskOf(job, call);
    const task: LockedTask<unknown> = (held) =>
      run({ job: policy.job, scope, periodKey: policy.periodAt(scheduledAt).key })(held);
    const tick = policy.period.kind === 'tick' ? {} : undefined;
    const purpose = madeUp
      ? { purpose: 'made-up' as const, scheduledAt, tick }
      : { purpose: 'overdue' as const };
    if (requests.length === 0)
      requests.push({ lock, policy, expectation, scope, task, taskOf: run, willRetry: true, ...purpose });
    const { events } = this.context;
    return requests.map((each) => {
      const report = new CallReport(events, each.lock, each.scheduledAt);
      report.isMadeUp = each.purpose === 'made-up';
      return new Tick(each, report);
    });
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
      tick.isOpen = !tick.isRecorded && !tick.isFinal && !isAnswered;
      const isTick = request.purpose === 'tick' || request.purpose === 'retry';
      if (request.willRetry && isTick && tick.isOpen) this.#keepForRetry(request);
    }
  }

  #tickOf<T>(
    job: OncePerJob,
    { task, args, call, at, invocation, scope: given, willRetry }: JobCall<T>,
    report: CallReport,
  ): TickRequest<T> {
    const { lock, policy } = job;
    const scope = given ?? report.check(() => scopeOf(policy, args));
    const isFirst = invocation?.takeScheduledTime(policy.job, scope) ?? true;
    if (!isFirst) report.scheduledAt = undefined;
    const { scheduledAt } = report;
    const admitted = this.registry.get(policy.job);
    const tick = policy.period.kind === 'tick' ? tickOptionsOf(admitted, scheduledAt, at) : undefined;
    const mayRetry = willRetry ?? admitted !== undefined;
    return {
      lock,
      policy,
      expectation: admitted?.expectation ?? {},
      task,
      taskOf: taskOf(job, call),
      scope,
      at,
      tick,
      willRetry: mayRetry && (tick === undefined || tick.nextAfter !== undefined),
      scheduledAt,
      receivedAt: momentOf(this.context.clock),
      purpose: 'tick',
      skip: () => this.registry.skipIfDisabled(job, report),
    };
  }

  #keepForRetry(request: TickRequest<unknown>): void {
    const { policy, scope, at, scheduledAt, receivedAt } = request;
    const { key } = periodOf(request, at ?? scheduledAt ?? new Date(receivedAt?.wallMs ?? 0));
    const id = JSON.stringify([policy.job, scope, key, at ?? clockSetting(receivedAt)]);
    const { ticksToRetry } = this;
    // A retry is only started while its job may run.
    if (!ticksToRetry.has(id)) ticksToRetry.set(id, { ...request, purpose: 'retry', skip: undefined });
    if (ticksToRetry.size <= MAX_TICKS_TO_RETRY) return;
    const [oldest = ''] = ticksToRetry.keys();
    ticksToRetry.delete(oldest);
    this.context.events.warn(
      'More than 1,000 ticks are waiting to be retried. The oldest was dropped, and its period may count as missed.',
    );
  }
}

function tickOptionsOf(
  admitted: AdmittedOncePerJob | undefined,
  scheduledAt: Date | undefined,
  at: Date | undefined,
): TickOptions {
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

/** The task of another run than that of the call. */
function taskOf({ policy }: OncePerJob, call: JobCall<unknown>['call']) {
  return (run: RunKey): LockedTask<unknown> => call(policy.resume?.(run) ?? []);
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
  if (name !== '') checkStoredName(name, { as: `a scope of job '${job}'`, longest: LONGEST_KEY });
  return name;
}
