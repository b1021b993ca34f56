import {
  CalendarError,
  InvalidLockConfigurationError,
  InvalidLockUseError,
  noneAfter,
  SchemaMismatchError,
} from '../core';
import { isNear } from '../core/options';
import { periodAt, RunLedger, type ActQuery, type Run, type StoredAct } from '../ledger';
import { declaredPolicy, knownRegister, type JobRegister, type RegisteredJob } from '../ledger/job-register';
import { expectationOf, watchedPeriods, type Expectation, type PeriodicJob } from '../ledger/expected';
import { periodOfKey } from '../ledger/periods/period-of-key';
import { calendarPeriodsOf, fixedScopeOf, type JobPolicy } from '../ledger/policy/job-policy';
import { describeRun, type RunKey } from '../ledger/run';
import type { CalendarPeriod } from '../ledger/periods/period';
import { limitOf, type LedgerContext } from '../ledger/store-statements';
import { callsOf } from '../guard/calls/calls';
import type { OncePerJobRunner } from '../guard/calls/once-per-job-runner';
import type { JobRegistry } from '../guard/jobs/job-registry';
import { unreadableText } from './remarks';

/** `undefined` for a guard that keeps no runs. */
export async function catalogIfAny(guard: object): Promise<JobCatalog | undefined> {
  return await JobCatalog.of(guard).catch(noneAfter(InvalidLockConfigurationError));
}

export type KnownJobs = Pick<OncePerJobRunner, 'context' | 'registry'>;

/**
 * The jobs that an operator sees: those of a guard, and those of the register. The register keeps what instances declare,
 * but no code: a calendar and a key function are known only to the guard of the application.
 */
export class JobCatalog {
  /** Also knows the periods of registered jobs. */
  readonly ledger: RunLedger;
  readonly #registered: ReadonlyMap<string, RegisteredJob>;

  private constructor(
    readonly context: LedgerContext,
    /** `undefined` if the database has no register of jobs. */
    readonly register: JobRegister | undefined,
    private readonly registry: JobRegistry,
  ) {
    this.#registered = new Map(register?.jobs.map((each) => [each.job, each]));
    this.ledger = new RunLedger({
      context,
      jobOf: (job) => {
        const policy = this.policyOf(job);
        return policy && { policy, expectation: this.expectationOf(job) };
      },
      lockOf: (job) => registry.get(job)?.lock.name ?? this.get(job)?.declared.lock,
    });
  }

  /**
   * Reads the register, with one statement.
   *
   * @throws InvalidLockConfigurationError if the guard has no run store
   */
  static async of(guard: object): Promise<JobCatalog> {
    return await JobCatalog.read(callsOf(guard).requireOncePerRunner('This needs'));
  }

  static async read({ context, registry }: KnownJobs): Promise<JobCatalog> {
    const register = await knownRegister(context.store.jobs(limitOf(context)));
    return new JobCatalog(context, register, registry);
  }

  /** The database's current time if it is known, or else that of this host. */
  get now(): Date {
    return this.register?.now ?? new Date();
  }

  /** The acts of operators, the newest first. `undefined` if the store keeps none, or its table is missing. */
  async acts(query: ActQuery): Promise<readonly StoredAct[] | undefined> {
    const listed = this.context.store.acts?.list(query, limitOf(this.context));
    return await listed?.catch(noneAfter(SchemaMismatchError));
  }

  jobsOf(lock: string): readonly string[] {
    const ofApp = this.registry.all.filter((job) => job.lock.name === lock).map(({ policy }) => policy.job);
    const registered = [...this.#registered.values()].filter(
      ({ declared }) => declared.lock === lock && !declared.hasNameFunction,
    );
    return [...new Set([...ofApp, ...registered.map(({ job }) => job)])];
  }

  /** The jobs with this lock that are known to run once per period. */
  oncePerJobsOf(lock: string): readonly string[] {
    const isOnlyLock = (job: string): boolean => this.get(job)?.declared.kind === 'lock';
    return this.jobsOf(lock).filter((job) => this.registry.get(job) !== undefined || !isOnlyLock(job));
  }

  /** @throws InvalidLockUseError for a job that is not registered, and for one that has no such lock */
  lockOf(job: string): string {
    const declared = this.get(job)?.declared;
    const lock = this.registry.get(job)?.lock.name ?? declared?.lock;
    if (lock === undefined) throw this.#unknown(job, 'registered job');
    if (!declared?.hasNameFunction) return lock;
    throw new InvalidLockUseError(
      `Job '${job}' cannot be paused: its lock names depend on its arguments. Use its option enabled instead.`,
    );
  }

  get(job: string): RegisteredJob | undefined {
    return this.#registered.get(job);
  }

  /** The newest run of a job, in any scope unless the job has one. */
  async newestRun(job: string, scope: string | undefined): Promise<Run | undefined> {
    const inScope = scope ?? this.#scopeOf(job);
    const [run] = await this.ledger.list({ job, limit: 1, ...(inScope ? { scope: inScope } : {}) });
    return run;
  }

  /**
   * A name with a mistake must not look like a job that has never run.
   *
   * @throws InvalidLockUseError for a job that is not registered and has no runs
   */
  async check(job: string): Promise<void> {
    if (this.#registered.has(job) || this.registry.get(job) !== undefined) return;
    const [run] = await this.ledger.list({ job, limit: 1 });
    if (run === undefined) throw this.#unknown(job);
  }

  /** As `policy`, but `undefined` for a job of which only code knows the periods, or which has none. */
  knownPolicy(job: string): JobPolicy | undefined {
    return this.#registered.get(job)?.declared.hasCalendar
      ? this.registry.get(job)?.policy
      : this.policyOf(job);
  }

  /**
   * The options of a job whose periods can be computed here.
   *
   * @throws InvalidLockUseError for an unknown job, and for a job of which only code knows the dates
   */
  policy(job: string): JobPolicy {
    const policy = this.knownPolicy(job);
    if (policy !== undefined) return policy;
    const registered = this.#registered.get(job);
    if (registered === undefined) throw this.#unknown(job, 'registered job');
    const { declared } = registered;
    if (declared.kind === 'lock')
      throw new InvalidLockUseError(`Job '${job}' does not run once per period, so it has no periods.`);
    const code = declared.hasCalendar ? 'calendar' : 'key function';
    throw new InvalidLockUseError(
      `Job '${job}' has a ${code}, which is code: pass --app FILE with a file that exports its guard.`,
    );
  }

  /**
   * A run of the job: its newest one by default, and that of the current period and the one before for `today` and
   * `yesterday`. The scope is that of the job by default.
   *
   * @throws InvalidLockUseError if a job whose periods are known has none with this key, or a job has no run
   */
  async runName(job: string, period: string | undefined, scope: string | undefined): Promise<RunKey> {
    if (period !== undefined) {
      const of = { job, scope: scope ?? this.#scopeOf(job) };
      // The job can have other periods now than when it ran.
      const run = await this.ledger.get({ ...of, periodKey: period }).catch(noneAfter(InvalidLockUseError));
      return { ...of, periodKey: run?.periodKey ?? this.#keyOf(job, period) };
    }
    const run = await this.newestRun(job, scope);
    if (run === undefined) throw new InvalidLockUseError(`Job '${job}' has no runs, so name the period.`);
    return { job, scope: run.scope, periodKey: run.periodKey };
  }

  #keyOf(job: string, period: string): string {
    const policy = this.policyOf(job);
    const periods = policy && calendarPeriodsOf(policy);
    if (periods === undefined) return period;
    const dates = { ...periods, target: 'current' } as const;
    const current = periodAt(this.now, dates);
    if (period === 'today') return current.key;
    if (period === 'yesterday') return periodAt(new Date(current.start.getTime() - 1), dates).key;
    return periodOfKey(period, periods).key;
  }

  #scopeOf(job: string): string {
    const policy = this.policyOf(job);
    return policy ? fixedScopeOf(policy) : '';
  }

  /** Without its calendar, if that is code that only the application has. */
  policyOf(job: string): JobPolicy | undefined {
    const registered = this.#registered.get(job);
    return this.registry.get(job)?.policy ?? (registered && declaredPolicy(registered));
  }

  /** @throws as `policy` does */
  periodicJob(job: string): PeriodicJob {
    return { policy: this.policy(job), expectation: this.expectationOf(job) };
  }

  /** The newest scheduled time that counts. */
  lastTimeOf(job: string): Date | undefined {
    const { schedule, declaredAt = this.now } = this.expectationOf(job);
    const last = schedule?.previous(this.now);
    return last !== undefined && last > declaredAt ? last : undefined;
  }

  /**
   * The missed periods that are reported, by job. Reads the runs of all jobs with one statement, and two more for a job that
   * lacks one. A job whose calendar is code that only its application has, or fails, has none.
   */
  async missed(jobs: readonly string[] = [...this.#registered.keys()]) {
    const watched = new Map(jobs.map((job) => [job, this.#watchedPeriods(job)]));
    const starts = [...watched].flatMap(([job, [first]]) => (first ? [[job, first.start] as const] : []));
    const runs = await this.context.store.since(new Map(starts), limitOf(this.context));
    const keys = new Set(runs.map(describeRun));
    const missed = new Map<string, readonly CalendarPeriod[]>();
    for (const [job, periods] of watched) {
      const scope = this.#scopeOf(job);
      const lacking = periods.filter(
        ({ key: periodKey }) => !keys.has(describeRun({ job, scope, periodKey })),
      );
      if (lacking[0] === undefined) continue;
      const range = { scope, from: lacking[0].start };
      const gaps = (await this.ledger.gaps(job, range).catch(noneAfter(CalendarError))) ?? [];
      const found = gaps.filter(({ key }) => lacking.some((period) => period.key === key));
      if (found.length > 0) missed.set(job, found);
    }
    return missed;
  }

  #watchedPeriods(job: string): CalendarPeriod[] {
    const { declared } = this.#registered.get(job) ?? {};
    const policy = this.knownPolicy(job);
    const periods = policy && calendarPeriodsOf(policy);
    if (periods === undefined || declared?.disabled === 'job' || declared?.hasScopeFunction !== false)
      return [];
    return watchedPeriods(this.expectationOf(job), periods, this.now);
  }

  /** As it is registered, which is the same for all instances. */
  expectationOf(job: string): Expectation {
    const registered = this.#registered.get(job);
    return registered ? expectationOf(registered) : (this.registry.get(job)?.expectation ?? {});
  }

  #unknown(job: string, what = 'job'): InvalidLockUseError {
    const row = this.register?.unreadable?.find((each) => each.job === job);
    if (row !== undefined) return new InvalidLockUseError(unreadableText(row));
    const near = [...this.#registered.keys()].find((name) => isNear(job.toLowerCase(), name.toLowerCase()));
    if (this.register === undefined)
      return new InvalidLockUseError(
        `Job '${job}' is unknown: this database has no register of jobs. Create it with cronlatch init, or pass --app FILE.`,
      );
    const remedy =
      near === undefined ? 'cronlatch jobs lists the registered jobs.' : `Did you mean '${near}'?`;
    return new InvalidLockUseError(`There is no ${what} '${job}'. ${remedy}`);
  }
}
