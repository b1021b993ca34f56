import { SchemaMismatchError, type LockedTask, type SkipReason, type StatementOptions } from '../../core';
import type { CallEnd } from '../../core/execution/event-hub';
import { LastingFailure } from '../../core/lasting-failure';
import { instanceOf, newOwner } from '../../core/lease/owner';
import type { ActChange, ActStore, Run, StoredAct } from '../../ledger';
import { isActDue, keepTaken, TAKEN_MS } from '../../ledger/operator/request-run';
import { firstLines } from '../../ledger/operator/state-of-run';
import { periodOfKey } from '../../ledger/periods/period-of-key';
import { calendarPeriodsOf, earliestTickOf } from '../../ledger/policy/job-policy';
import { limitOf, retryTransient } from '../../ledger/store-statements';
import { storedError } from '../../ledger/tick/stored-text';
import type { AdmittedJob, AdmittedOncePerJob, JobCall } from '../jobs/job';
import type { Register } from './register';
import { sumOf, type OverdueResult, type Service, type StartedRuns } from './upkeep';
import type { Calls } from '../calls/calls';
import type { OncePerJobRunner } from '../calls/once-per-job-runner';

/** The run of a request whose taker has not come back has not ended. */
const LOOK_AGAIN: ActChange = { state: 'taken', afterMs: 10_000 };

/** After these skips, the next check tries again, until the request expires. */
const RETRIED_SKIPS: ReadonlySet<string> = new Set<SkipReason>([
  ...(['locked', 'running-here', 'running-elsewhere', 'disabled', 'closing', 'not-due'] as const),
]);

/**
 * Runs the jobs of one guard that operators have requested. A job starts as at a tick: the lock, `enabled` and the ledger
 * decide. One instance takes a request by a conditional write.
 */
export class RunRequests implements Service {
  readonly failure = 'Could not look up the requests to run jobs. The guard will try again at the next poll.';
  readonly #lastingFailure: LastingFailure;
  readonly #serving = new Set<Promise<OverdueResult | undefined>>();

  constructor(
    private readonly acts: ActStore,
    private readonly calls: Calls,
    private readonly runner: OncePerJobRunner,
    private readonly registered: Pick<Register, 'jobOf'>,
  ) {
    this.#lastingFailure = new LastingFailure(runner.context.events);
  }

  /** Serves the requests for jobs that this guard can run. Sends one statement if there are none. Never rejects. */
  run(): Promise<StartedRuns | void> {
    const started = this.#mayStart() ? this.#serveAll() : Promise.resolve();
    const ended = started.then((runs) => runs?.ended);
    this.#serving.add(ended);
    void ended.then(() => this.#serving.delete(ended));
    return started;
  }

  async #serveAll(): Promise<StartedRuns | void> {
    try {
      const { now, acts } = await this.acts.pending('run', limitOf(this.runner.context));
      this.#lastingFailure.end();
      const ofJobs = new Map<string, StoredAct[]>();
      for (const act of acts) ofJobs.set(act.job ?? '', [...(ofJobs.get(act.job ?? '') ?? []), act]);
      const serving = [...ofJobs.values()].map((requests) => this.#serveInTurn(requests, now));
      return { ended: Promise.all(serving).then(sumOf) };
    } catch (error) {
      // Without a usable table, there are no requests. operations(guard).run() reports the fix.
      if (!(error instanceof SchemaMismatchError)) this.#lastingFailure.report(this.failure, error);
    }
  }

  /** Waits until the ends of requested runs are recorded. */
  async close(): Promise<void> {
    await Promise.all(this.#serving);
  }

  #mayStart(): boolean {
    const { lockExecutor, registry } = this.runner;
    try {
      return !lockExecutor.runs.closing && registry.isEnabled();
    } catch {
      return false; // The check for overdue runs reports that `enabled` of the guard has failed.
    }
  }

  /** The scopes of a job share its lock. */
  async #serveInTurn(requests: readonly StoredAct[], now: Date): Promise<OverdueResult> {
    let started = 0;
    for (const request of requests) {
      const job = this.#jobOf(request.job ?? '');
      if (job !== undefined && isActDue(request, now) && (await this.#serve(job, request, now))) started += 1;
    }
    return { started, overdue: 0 };
  }

  /** The name of a function decides the lock by its arguments, which a request does not have. */
  #jobOf(name: string): AdmittedJob | undefined {
    const job = this.runner.registry.get(name) ?? this.registered.jobOf(name);
    return job?.nameOf === undefined && job?.isReady?.() !== false ? job : undefined;
  }

  /** Never rejects. @returns whether the handler was called */
  async #serve(job: AdmittedJob, request: StoredAct, now: Date): Promise<boolean> {
    const { context } = this.runner;
    const { id, state } = request;
    const owner = newOwner(context.instance);
    let stopRenewing = (): void => {};
    try {
      if (!(await this.acts.take(id, { owner, leaseMs: TAKEN_MS }, limitOf(context)))) return false;
      stopRenewing = keepTaken(context, id, owner);
      const isLost = state === 'taken';
      const lost = isLost ? await this.#endOfLost(job, request, now) : undefined;
      const end = lost ?? (await this.#run(job, request, now));
      const change = (options: StatementOptions) => this.acts.change(id, owner, end, options);
      await retryTransient(context, change, (outcome) => outcome !== 'nothing-ran');
      return !isLost && (end.state === 'done' || end.state === 'failed');
    } catch (error) {
      this.#warn(request, error);
      return false;
    } finally {
      stopRenewing();
    }
  }

  async #run(job: AdmittedJob, request: StoredAct, now: Date): Promise<ActChange> {
    const report = this.calls.reportOf(job);
    // The report has the failure.
    await this.calls.execute(job, callOf(job, request, now), report).catch(() => undefined);
    const end = endOf(report.end);
    if (job.policy === undefined || end.state !== 'refused' || request.tries === 0) return end;
    // An earlier taker can have started that run, and could not record its end.
    const run = await this.#runOf(job, request, now).catch((error) => this.#warn(request, error));
    return (run && endOfRun(run, `${end.outcome}`)) ?? end;
  }

  /** How a request ends whose taker has not come back: as its run. `undefined`: there is none, so it starts now. */
  async #endOfLost(job: AdmittedJob, request: StoredAct, now: Date): Promise<ActChange | undefined> {
    const isGone = `the lease of ${instanceOf(request.takenBy ?? '')} ended, and it has not come back`;
    if (job.policy === undefined) return { state: 'failed', outcome: isGone };
    const run = await this.#runOf(job, request, now);
    return run && (endOfRun(run, isGone) ?? LOOK_AGAIN);
  }

  async #runOf(job: AdmittedOncePerJob, request: StoredAct, now: Date): Promise<Run | undefined> {
    const { context } = this.runner;
    const periodKey = job.policy.periodAt(instantOf(job, request, now)).key;
    const query = {
      job: request.job,
      scope: request.scope,
      periodKey,
      order: 'newest-first',
      limit: 1,
    } as const;
    return (await context.store.find(query, limitOf(context)))[0];
  }

  #warn({ job }: StoredAct, error: unknown): void {
    const message = `Could not record the outcome of the request to run job '${job}'.`;
    this.runner.context.events.warn(message, error);
  }
}

function endOf({ outcome = 'lock-failed', reason, error }: Partial<CallEnd> = {}): ActChange {
  if (outcome === 'completed') return { state: 'done' };
  if (outcome === 'failed') return { state: outcome, outcome: storedError(error) };
  if (outcome === 'lock-failed' || reason === undefined)
    return { state: 'open', outcome: storedError(error) };
  return { state: RETRIED_SKIPS.has(reason) ? 'open' : 'refused', outcome: reason };
}

/** `undefined` for a run that has not ended. */
function endOfRun({ state, error, reason, nextAttemptAt }: Run, isGone: string): ActChange | undefined {
  if (state === 'completed') return { state: 'done' };
  if (state === 'skipped') return { state: 'refused', outcome: state };
  if (state === 'interrupted') return { state: 'failed', outcome: isGone };
  const isOver = state === 'failed' && nextAttemptAt === undefined;
  return isOver ? { state, outcome: firstLines(error) ?? reason } : undefined;
}

function callOf(job: AdmittedJob, request: StoredAct, now: Date): JobCall<unknown> {
  const { call, policy } = job;
  if (policy === undefined) return { task: call([]), args: [], call };
  const { scope } = request;
  const at = instantOf(job, request, now);
  const run = { job: request.job ?? '', scope, periodKey: policy.periodAt(at).key };
  const task: LockedTask<unknown> = (lock) => call(policy.resume?.(run) ?? [])(lock);
  return { task, args: [], call, at, scope, willRetry: false };
}

/**
 * An instant whose tick counts for the requested period, by default the current one. Of a job that runs once per tick, the
 * request is the tick: the instance that takes it over after a crash finds the run.
 */
function instantOf({ policy }: AdmittedOncePerJob, { periodKey, at }: StoredAct, now: Date): Date {
  if (policy.period.kind === 'tick') return at;
  const periods = calendarPeriodsOf(policy);
  if (periodKey === undefined || periods === undefined) return now;
  return earliestTickOf(periodOfKey(periodKey, periods), periods) ?? now;
}
