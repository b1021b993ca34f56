import { expectationOf, knownPeriodAt, mayBeMadeUp } from '../../ledger/expected';
import { scheduleText } from '../../ledger/job-register';
import type { Period } from '../../ledger/periods/period';
import type { JobPolicy } from '../../ledger/policy/job-policy';
import { madeUpMark } from '../../ledger/run';
import { limitOf } from '../../ledger/store-statements';
import type { JobScope, OncePerJobRunner } from '../calls/once-per-job-runner';
import { declaredJobOf, type AdmittedOncePerJob } from '../jobs/job';
import type { Register } from './register';
import { sumOf, type OverdueResult, type Service, type StartedRuns } from './upkeep';

/** A tick of another instance may still come, or be recorded, so long after its time. */
const LONGEST_WAIT_MS = 60_000;
const MOST_SCOPES = 1000;

type AddScope = (job: string, scope: string, madeUp?: JobScope['madeUp']) => void;

/** Starts the overdue runs of the admitted once-per jobs of one guard, and makes up scheduled times without a tick. */
export class OverdueRuns implements Service {
  readonly failure = 'Could not look up the overdue runs. The guard will try again at the next poll.';
  /** The jobs and scopes that an earlier call is still working on. */
  readonly #busy = new Set<string>();
  /** By job, the period of the database's clock in which nothing was left to catch up with. */
  readonly #caughtUp = new Map<string, string>();
  /** By job, the newest scheduled time by the clock of this host for which nothing is left to be made up. */
  readonly #answered = new Map<string, number>();
  /** Soon after the start, but not with those of all other instances. */
  readonly firstAfterMs: number | undefined;

  constructor(
    private readonly runner: OncePerJobRunner,
    private readonly registered: Register,
  ) {
    const { pollIntervalMs } = registered;
    if (pollIntervalMs !== undefined)
      this.firstAfterMs = Math.min(pollIntervalMs, 1000 * (1 + runner.context.random()));
  }

  /** @throws LockStorageError if the overdue runs cannot be read from the store */
  async run(): Promise<StartedRuns | void> {
    const { registry, lockExecutor } = this.runner;
    if (lockExecutor.runs.closing) return;
    if (!this.#mayRun(registry.isEnabled, ': the enabled function of the guard')) return;
    await this.registered.settle();
    const mayRun = ({ isEnabled, isReady, policy: { job } }: AdmittedOncePerJob): boolean =>
      this.#mayRun(isEnabled, ` of job '${job}': its enabled function`) && isReady?.() !== false;
    const jobs = new Map(registry.all.filter(mayRun).map((job) => [job.policy.job, job]));
    const found = new Map<string, JobScope>();
    const add: AddScope = (name, scope, madeUp) => {
      const id = JSON.stringify([name, scope]);
      const job = jobs.get(name);
      if (job !== undefined && (madeUp || !found.has(id))) found.set(id, { job, scope, madeUp });
    };
    if (jobs.size > 0) await this.#findOverdue([...jobs.values()], add);
    let failure: Error | undefined;
    await this.#findUnanswered([...jobs.values()], add).catch((error) => (failure = error as Error));
    // Jobs that share a lock would only block each other, so they run one after the other.
    const lastOf = new Map<string, Promise<OverdueResult>>();
    const runInTurn = (each: JobScope): Promise<OverdueResult> => {
      const { name } = each.job.lock;
      const result = (lastOf.get(name) ?? Promise.resolve()).then(() => this.#runJobScope(each));
      lastOf.set(name, result);
      return result;
    };
    return { ended: Promise.all([...found.values()].map(runInTurn)).then(sumOf), failure };
  }

  async #findOverdue(jobs: readonly AdmittedOncePerJob[], add: AddScope): Promise<void> {
    const { ticksToRetry, context } = this.runner;
    for (const { policy, scope } of ticksToRetry.values()) add(policy.job, scope);
    for (const { policy } of jobs)
      if (typeof policy.scope === 'string' && this.#mayHaveMissed(policy)) add(policy.job, policy.scope);
    const names = jobs.map(({ policy }) => policy.job);
    for (const { job, scope } of await context.store.overdue(names, limitOf(context))) add(job, scope);
  }

  /** Adds jobs whose newest scheduled time has no run. Reads nothing while no job has a new one. */
  async #findUnanswered(jobs: readonly AdmittedOncePerJob[], add: AddScope): Promise<void> {
    const { store, clock } = this.runner.context;
    const options = limitOf(this.runner.context);
    const wall = new Date(clock.wallMs());
    const candidates = jobs.flatMap((job) => {
      const { policy, schedules, expectation } = job;
      const at = expectation.declaredAt && expectation.schedule?.newest(wall);
      if (!this.#hasWaited(at, wall, schedules)) return [];
      return this.#answered.get(policy.job) === at.getTime() ? [] : [{ job, hereMs: at.getTime() }];
    });
    if (candidates.length === 0) return;
    const answered = new Map<string, number>();
    const { now, jobs: registered } = await store.jobs(options);
    const open = candidates.flatMap(({ job, hereMs }) => {
      const { policy, schedules } = job;
      const stored = registered.find((each) => each.job === policy.job);
      // During a rolling deployment, other instances may have other times.
      if (stored === undefined || scheduleText(stored.declared) !== scheduleText(declaredJobOf(job)))
        return [];
      const expectation = expectationOf(stored);
      const at = expectation.schedule?.previous(now);
      if (!this.#hasWaited(at, now, schedules)) return [];
      if (at.getTime() >= hereMs) answered.set(policy.job, hereMs); // Else the clock of this host is ahead.
      const isAnswered = policy.period.kind === 'tick' && Number(stored.answeredAt ?? NaN) >= at.getTime();
      if (isAnswered || !mayBeMadeUp({ policy, expectation }, at, { now })) return [];
      return [{ policy, madeUp: { at, expectation }, period: knownPeriodAt(policy, at) }];
    });
    const starts = open.flatMap(({ policy, period }) =>
      period?.start ? [[policy.job, period.start] as const] : [],
    );
    const runs = starts.length === 0 ? [] : await store.since(new Map(starts), options);
    for (const { policy, madeUp, period } of open) {
      const { job, scope } = policy;
      const own = runs.filter((run) => run.job === job && run.periodKey === period?.key);
      // A tick that has started one scope has named all that it wants.
      const hasTicked = own.some((run) => madeUpMark(run) === undefined);
      const ofFunction = (): Promise<string[]> | [] => (hasTicked ? [] : this.#newestScopesOf(job, period));
      const scopes = typeof scope === 'string' ? [scope] : await ofFunction();
      for (const each of scopes) if (own.every((run) => run.scope !== each)) add(job, each, madeUp);
    }
    // After a read that failed, the next check looks again.
    for (const [job, atMs] of answered) this.#answered.set(job, atMs);
  }

  /** Whether its own tick can hardly come any more, or be recorded. */
  #hasWaited(at: Date | undefined, now: Date, schedules: AdmittedOncePerJob['schedules'] = []): at is Date {
    const delayMs = Math.max(0, ...schedules.map(({ maxRandomDelay = 0 }) => maxRandomDelay));
    const waitMs = Math.min(LONGEST_WAIT_MS, this.registered.pollIntervalMs ?? Infinity) + delayMs;
    return at !== undefined && now.getTime() - at.getTime() >= waitMs;
  }

  /** The scopes with a run in the newest recorded period before this one. */
  async #newestScopesOf(job: string, before: Period | undefined): Promise<string[]> {
    const { store } = this.runner.context;
    const options = limitOf(this.runner.context);
    const [newest] = await store.find({ job, to: before?.start, order: 'newest-first', limit: 1 }, options);
    if (newest === undefined) return [];
    const { periodKey, periodStart } = newest;
    const runs = periodStart
      ? await store.since(new Map([[job, periodStart]]), options)
      : await store.find({ job, periodKey, order: 'newest-first', limit: MOST_SCOPES }, options);
    return runs.filter((run) => run.periodKey === periodKey).map(({ scope }) => scope);
  }

  /** @param failure what follows "Could not start the overdue runs" in the warning if the function fails */
  #mayRun(check: () => boolean, failure: string): boolean {
    try {
      return check();
    } catch (error) {
      this.runner.context.events.warn(`Could not start the overdue runs${failure} failed.`, error);
      return false;
    }
  }

  /** After a complete catch-up, a period can only be missed once a new period has begun. */
  #mayHaveMissed({ job, catchUp, period, periodAt }: JobPolicy): boolean {
    // With a key function, the expected periods are unknown.
    if (catchUp.catchUp === 'none' || typeof period.kind === 'function') return false;
    const { key } = periodAt(new Date(this.runner.context.clock.wallMs()));
    return this.#caughtUp.get(job) !== key;
  }

  /** Never rejects. Events report the failures. */
  async #runJobScope(jobScope: JobScope): Promise<OverdueResult> {
    const { job, scope, madeUp } = jobScope;
    const { policy, lock } = job;
    const id = JSON.stringify([policy.job, scope]);
    const isBusy = this.#busy.has(id) || this.runner.lockExecutor.runs.refusal(lock.name) !== undefined;
    const ticks = isBusy ? [] : this.runner.takeOverdue(jobScope);
    if (!isBusy) this.#busy.add(id);
    // They share a lock, so they run one after the other. An event reports a failure: lock:failed or run:failed.
    for (const tick of ticks) await this.runner.runTick(tick).catch(() => undefined);
    if (!isBusy) this.#busy.delete(id);
    const isMadeUp = ticks.some(({ request, isOpen }) => request.purpose === 'made-up' && !isOpen);
    if (madeUp && !isMadeUp) this.#answered.delete(policy.job); // The next check tries again.
    const [caughtUpPeriod] = ticks.flatMap((tick) => tick.caughtUpPeriod ?? []);
    if (caughtUpPeriod !== undefined) this.#caughtUp.set(policy.job, caughtUpPeriod);
    return sumOf(ticks.map(({ started, overdue }) => ({ started, overdue: Math.max(0, overdue - started) })));
  }
}
