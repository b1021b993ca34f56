import { InvalidLockUseError, SchemaMismatchError } from '../core';
import type { JobGuard } from '../guard';
import { integrationOf } from '../guard/integration';
import type { JobRegistry } from '../guard/jobs/job-registry';
import { describeValue, isNear } from '../core/options';
import { RunLedger, type Run, type RunSummary } from '../ledger';
import type { JobRegister, RegisteredJob } from '../ledger/job-register';
import { checkDayRule, dayOf, startOfDayMs } from '../ledger/periods/business-date';
import { periodOfKey } from '../ledger/periods/period-of-key';
import { calendarPeriodsOf, parseJobPolicy, type JobPolicy } from '../ledger/policy/job-policy';
import { limitOf, readRegister, type LedgerContext } from '../ledger/store-statements';
import { UsageError } from './failure';
import { instantIn } from './options';
import { commandText } from './terminal';

/**
 * The jobs of a command: those of the application's guard, and those of the register. The register keeps what instances
 * declare, but no code: a calendar and a key function are known only with `--app`.
 */
export class KnownJobs {
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
    this.ledger = new RunLedger({ context, policyOf: (job) => this.#policyOf(job), jobs: registry });
  }

  /**
   * Reads the register, with one statement.
   *
   * @throws InvalidLockConfigurationError if the guard has no run store
   */
  static async of(guard: JobGuard): Promise<KnownJobs> {
    const { context, registry } = integrationOf(guard).requireOncePerRunner('cronlatch needs');
    return new KnownJobs(context, await registerOf(context), registry);
  }

  /** The database's current time if it is known, or else that of this host. */
  get now(): Date {
    return this.register?.now ?? new Date();
  }

  /** The newest run of each job and scope, and those that are running or interrupted. One statement. */
  async latestRuns(): Promise<readonly RunSummary[]> {
    return (await this.context.store.latest?.(limitOf(this.context))) ?? [];
  }

  /** The jobs with this lock that are known to run once per period. */
  oncePerJobsOf(lock: string): readonly string[] {
    const ofApp = this.registry.all.filter((job) => job.lock.name === lock).map(({ policy }) => policy.job);
    const registered = [...this.#registered.values()].filter(
      ({ declared }) => declared.lock === lock && declared.kind !== 'lock' && declared.kind !== 'tick',
    );
    return [...new Set([...ofApp, ...registered.map(({ job }) => job)])];
  }

  get(job: string): RegisteredJob | undefined {
    return this.#registered.get(job);
  }

  /** The newest run of a job, in any scope unless the job has one. */
  async newestRun(job: string, scope: string | undefined): Promise<Run | undefined> {
    const fixed = this.#policyOf(job)?.scope;
    const inScope = scope ?? (typeof fixed === 'string' ? fixed : undefined);
    const [run] = await this.ledger.list({ job, limit: 1, ...(inScope ? { scope: inScope } : {}) });
    return run;
  }

  /** Whether a tick would count for the period of this run. `undefined` if the periods are unknown. */
  isCurrent({ job, periodKey }: Run): boolean | undefined {
    const policy = this.#policyOf(job);
    return policy && policy.periodAt(this.now).key === periodKey;
  }

  /**
   * A name with a mistake must not look like a job that has never run.
   *
   * @throws UsageError for a job that is not registered and has no runs
   */
  async check(job: string): Promise<void> {
    if (this.#registered.has(job) || this.registry.get(job) !== undefined) return;
    const [run] = await this.ledger.list({ job, limit: 1 });
    if (run === undefined) throw this.#unknown(job);
  }

  /**
   * The options of a job whose periods can be computed here.
   *
   * @throws UsageError for an unknown job, and for a job of which only code knows the dates
   */
  policy(job: string): JobPolicy {
    const ofApp = this.registry.get(job)?.policy;
    if (ofApp !== undefined) return ofApp;
    const registered = this.#registered.get(job);
    if (registered === undefined) throw this.#unknown(job, 'registered job');
    const { kind, hasCalendar } = registered.declared;
    const policy = declaredPolicy(registered);
    if (policy !== undefined && !hasCalendar) return policy;
    if (kind === 'lock' || kind === 'tick')
      throw new UsageError(`Job '${job}' does not run once per period, so it has no periods.`);
    const code = hasCalendar ? 'calendar' : 'key function';
    throw new UsageError(
      `Job '${job}' has a ${code}, which is code: pass --app FILE with a file that exports its guard.`,
    );
  }

  /**
   * An instant, or the start of a business date of the job.
   *
   * @throws UsageError if the text is neither
   */
  instant(text: string, option: string, policy: JobPolicy): Date {
    if (/^\d+-\d+-\d+$/.test(text))
      return new Date(startOfDayMs(businessDay(text, option), checkDayRule(policy.period)));
    const instant = instantIn(text);
    if (instant !== undefined) return instant;
    throw new UsageError(
      `${option} is ${describeValue(text)}: write a date, as in 2026-11-20, or an instant with its offset, as in 2026-11-20T03:00:00Z.`,
    );
  }

  /** @throws UsageError if a job whose periods are known has none with this key */
  checkPeriod(job: string, period: string): void {
    const policy = this.#policyOf(job);
    const periods = policy && calendarPeriodsOf(policy);
    try {
      if (periods !== undefined) periodOfKey(period, periods);
    } catch (error) {
      throw error instanceof InvalidLockUseError ? new UsageError(error.message) : error;
    }
  }

  #policyOf(job: string): JobPolicy | undefined {
    const registered = this.#registered.get(job);
    return this.registry.get(job)?.policy ?? (registered && declaredPolicy(registered));
  }

  #unknown(job: string, what = 'job'): UsageError {
    const row = this.register?.unreadable?.find((each) => each.job === job);
    if (row !== undefined) return new UsageError(unreadableText(row));
    const near = [...this.#registered.keys()].find((name) => isNear(job.toLowerCase(), name.toLowerCase()));
    if (this.register === undefined)
      return new UsageError(
        `Job '${job}' is unknown: this database has no register of jobs. Create it with cronlatch init, or pass --app FILE.`,
      );
    const remedy =
      near === undefined ? 'cronlatch jobs lists the registered jobs.' : `Did you mean '${near}'?`;
    return new UsageError(`There is no ${what} '${job}'. ${remedy}`);
  }
}

/** @throws UsageError */
export function businessDay(text: string, option: string): number {
  try {
    return dayOf(text, option);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

async function registerOf(context: LedgerContext): Promise<JobRegister | undefined> {
  try {
    const { now, jobs, unreadable = [] } = await readRegister(context);
    const [read, unread] = [true, false].map((is) => jobs.filter((job) => isReadable(job) === is));
    return { now, jobs: read ?? [], unreadable: [...unreadable, ...(unread ?? [])] };
  } catch (error) {
    if (error instanceof SchemaMismatchError || error instanceof InvalidLockUseError) return undefined;
    throw error;
  }
}

/** A newer version can declare periods that this one does not know. */
function isReadable(job: RegisteredJob): boolean {
  try {
    declaredPolicy(job);
    return true;
  } catch {
    return false;
  }
}

export function unreadableText({ job, version }: Pick<RegisteredJob, 'job' | 'version'>): string {
  const forget = commandText('forget', [job], ' --reason TEXT');
  return `Job '${job}' cannot be read: cronlatch ${version} has registered it. Use that version here. If your code no longer has the job, call ${forget}`;
}

/** What an instance declared, without its calendar. `undefined` for a job without periods, and for a key function. */
export function declaredPolicy({ job, declared }: RegisteredJob): JobPolicy | undefined {
  const { kind, timeZone, dayStart, target, scope = '' } = declared;
  if (kind === 'lock' || kind === 'tick' || kind === 'custom') return undefined;
  const defaults = parseJobPolicy({ period: kind, timeZone, dayStart, target }, job);
  const { retry = defaults.retry, onCrash = defaults.onCrash, catchUp = defaults.catchUp } = declared;
  return { ...defaults, retry, onCrash, catchUp, startDeadlineMs: declared.startDeadlineMs, scope };
}
