import { SchemaMismatchError, type LockedTask, type SkipReason, type StatementOptions } from '../../core';
import type { CallEnd } from '../../core/execution/event-hub';
import { LastingFailure } from '../../core/lasting-failure';
import { instanceOf, newOwner } from '../../core/lease/owner';
import type { StoredRequest } from '../../ledger';
import { isRequestDue } from '../../ledger/operator/request-run';
import { periodOfKey } from '../../ledger/periods/period-of-key';
import { calendarPeriodsOf, earliestTickOf } from '../../ledger/policy/job-policy';
import type { RequestChange, RequestStore } from '../../ledger/request-store';
import { runEventOf } from '../../ledger/run-store';
import { limitOf, retryTransient } from '../../ledger/store-statements';
import { storedError } from '../../ledger/tick/stored-text';
import type { AdmittedJob, AdmittedOncePerJob, JobCall } from '../jobs/job';
import type { Register } from './register';
import { sumOf, type OverdueResult, type Service, type StartedRuns } from './upkeep';
import type { Calls } from '../calls/calls';
import type { OncePerJobRunner } from '../calls/once-per-job-runner';

/** A taker that has not renewed its lease for so long counts as crashed. */
const LEASE_MS = 120_000;
const RENEW_EVERY_MS = 30_000;

/** After these skips, the next check tries again, until the request expires. */
const RETRIED_SKIPS: ReadonlySet<string> = new Set<SkipReason>([
  ...(['locked', 'running-here', 'running-elsewhere', 'standby', 'disabled', 'closing', 'not-due'] as const),
]);

/**
 * Runs the jobs of one guard that operators have requested. A job starts as at a tick: the lock, `enabled`, standby and the
 * ledger decide. One instance takes a request by a conditional write.
 */
export class RunRequests implements Service {
  readonly failure = 'Could not look up the requests to run jobs. The guard will try again at the next poll.';
  readonly #lastingFailure: LastingFailure;
  readonly #serving = new Set<Promise<OverdueResult | undefined>>();

  constructor(
    private readonly requests: RequestStore,
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
      const { now, requests } = await this.requests.pending(limitOf(this.runner.context));
      this.#lastingFailure.end();
      return { ended: Promise.all(requests.map((request) => this.#serveIfDue(request, now))).then(sumOf) };
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
      return !lockExecutor.runs.closing && !registry.isOnStandby;
    } catch {
      return false; // The check for overdue runs reports that the function of `standby` has failed.
    }
  }

  async #serveIfDue(request: StoredRequest, now: Date): Promise<OverdueResult> {
    const job = request.kind === 'run' ? this.#jobOf(request.job) : undefined;
    const hasRun = job !== undefined && isRequestDue(request, now) && (await this.#serve(job, request, now));
    return { started: Number(hasRun), overdue: 0 };
  }

  /** The name of a function decides the lock by its arguments, which a request does not have. */
  #jobOf(name: string): AdmittedJob | undefined {
    const job = this.runner.registry.get(name) ?? this.registered.jobOf(name);
    return job?.nameOf === undefined && job?.isReady?.() !== false ? job : undefined;
  }

  /** Never rejects. @returns whether the handler was called */
  async #serve(job: AdmittedJob, request: StoredRequest, now: Date): Promise<boolean> {
    const { context } = this.runner;
    const { id, takenBy, state } = request;
    const owner = newOwner(context.instance);
    let stopRenewing = (): void => {};
    try {
      if (!(await this.requests.take(id, { owner, leaseMs: LEASE_MS }, limitOf(context)))) return false;
      stopRenewing = this.#keepTaken(id, owner);
      const wasTaken = state === 'taken';
      const isLost = wasTaken && (job.policy === undefined || (await this.#record(job, request, now)));
      const end: RequestChange = isLost
        ? {
            state: 'interrupted',
            outcome: `the lease of ${instanceOf(takenBy ?? '')} ended, and it has not come back`,
          }
        : await this.#run(job, request, now);
      const change = (options: StatementOptions) => this.requests.change(id, owner, end, options);
      await retryTransient(context, change, (outcome) => outcome !== 'nothing-ran');
      return end.state === 'completed' || end.state === 'failed';
    } catch (error) {
      this.#warn(request, error);
      return false;
    } finally {
      stopRenewing();
    }
  }

  async #run(job: AdmittedJob, request: StoredRequest, now: Date): Promise<RequestChange> {
    const report = this.calls.reportOf(job);
    // The report has the failure.
    await this.calls.execute(job, callOf(job, request, now), report).catch(() => undefined);
    const end = endOf(report.end);
    if (job.policy !== undefined && end.state !== 'open')
      await this.#record(job, request, now).catch((error) => this.#warn(request, error));
    return end;
  }

  /** Adds the request to the history of its run. Returns whether there is a run. */
  async #record(job: AdmittedOncePerJob, request: StoredRequest, now: Date): Promise<boolean> {
    const { context } = this.runner;
    const { scope, actor, reason: detail, createdAt } = request;
    const periodKey = job.policy.periodAt(instantOf(job, request, now)).key;
    return await context.store.change(
      { job: request.job, scope, periodKey },
      (found) => {
        if (found === undefined) return { value: false };
        const event = runEventOf(found.run, 'requested', detail, actor);
        return { value: true, events: [{ ...event, at: createdAt }] };
      },
      limitOf(context),
    );
  }

  #warn({ job }: StoredRequest, error: unknown): void {
    const message = `Could not record the outcome of the request to run job '${job}'.`;
    this.runner.context.events.warn(message, error);
  }

  /** Renews the lease of a request. A renewal that fails is repeated at the next one. @returns a function that stops it */
  #keepTaken(id: string, owner: string): () => void {
    const { context } = this.runner;
    const change = { state: 'taken', afterMs: LEASE_MS } as const;
    const renew = (): void => {
      cancel = renewLater();
      this.requests.change(id, owner, change, limitOf(context)).catch(() => {});
    };
    const renewLater = () => context.clock.schedule(RENEW_EVERY_MS, renew, { keepAlive: false });
    let cancel = renewLater();
    return () => cancel();
  }
}

function endOf({ outcome = 'lock-failed', reason, error }: Partial<CallEnd> = {}): RequestChange {
  if (outcome === 'completed') return { state: outcome };
  if (outcome === 'failed') return { state: outcome, outcome: storedError(error) };
  if (outcome === 'lock-failed' || reason === undefined)
    return { state: 'open', outcome: storedError(error) };
  return { state: RETRIED_SKIPS.has(reason) ? 'open' : 'skipped', outcome: reason };
}

function callOf(job: AdmittedJob, request: StoredRequest, now: Date): JobCall<unknown> {
  const { call, policy } = job;
  if (policy === undefined) return { task: call([]), args: [], call };
  const { scope } = request;
  const at = instantOf(job, request, now);
  const run = { job: request.job, scope, periodKey: policy.periodAt(at).key };
  const task: LockedTask<unknown> = (lock) => call(policy.resume?.(run) ?? [])(lock);
  return { task, args: [], call, at, scope, willRetry: false };
}

/**
 * An instant whose tick counts for the requested period, by default the current one. Of a job that runs once per tick, the
 * request is the tick: the instance that takes it over after a crash finds the run.
 */
function instantOf({ policy }: AdmittedOncePerJob, { periodKey, createdAt }: StoredRequest, now: Date): Date {
  if (policy.period.kind === 'tick') return createdAt;
  const periods = calendarPeriodsOf(policy);
  if (periodKey === undefined || periods === undefined) return now;
  return earliestTickOf(periodOfKey(periodKey, periods), periods) ?? now;
}
