import { InvalidLockConfigurationError, type EventHub } from '../../core';
import { isOwnName } from '../../core/lock-name';
import type { CallReport, Skipped } from '../../core/execution/event-hub';
import { intervalOf, Schedule } from '../../ledger/periods/schedule';
import {
  checkJobDefaults,
  compileJob,
  type AdmittedJob,
  type AdmittedOncePerJob,
  type Expected,
  type Job,
  type JobDeclaration,
  type JobDefaults,
} from './job';
import { hasTimeFunctions } from './lock-functions';
import type { JobGuardOptions, LabelledConfiguration } from './job-guard-options';

const MINUTE_MS = 60_000;

/** The jobs of one guard. Each is compiled once, and checked against the others when it is admitted. */
export class JobRegistry {
  readonly defaults: JobDefaults;
  /** Of the guard. Throws an InvalidLockConfigurationError if it fails. The command line replaces it, which no register shows. */
  isEnabled = (): boolean => true;
  /** By configuration, which no longer changes, and before by instance if functions return its times. */
  readonly #compiled = new WeakMap<object, WeakMap<LabelledConfiguration, Job>>();
  #oncePer: ReadonlyMap<string, AdmittedOncePerJob> = new Map();
  /** The scheduled jobs, by lock name. */
  #scheduled: ReadonlyMap<string, AdmittedJob> = new Map();

  /** @throws InvalidLockConfigurationError naming the option */
  constructor(
    options: JobGuardOptions,
    private readonly events: EventHub,
    private readonly hasLedger: boolean,
  ) {
    this.defaults = checkJobDefaults(options);
  }

  /** @throws InvalidLockConfigurationError naming the lock or the job, and the value */
  compile(configuration: LabelledConfiguration, instance?: unknown): Job {
    const job = compileJob(configuration, this.defaults, instance);
    const own = [job.lock.name, job.lock.job].find(isOwnName);
    if (own !== undefined)
      throw new InvalidLockConfigurationError(
        `A job cannot have the name '${own}': cronlatch has a job of that name. Choose another name.`,
      );
    if (job.policy !== undefined && !this.hasLedger) throw needsLedger(`Job '${job.policy.job}' needs`);
    return job;
  }

  /**
   * Compiles each configuration, which no longer changes, only once.
   *
   * @param instance of the class of a decorated method
   * @throws InvalidLockConfigurationError as `compile` does
   */
  jobOf(configuration: LabelledConfiguration, instance?: unknown): Job {
    // A method that is called without its instance can have any value instead.
    const isOwn = Object(instance) === instance && hasTimeFunctions(configuration);
    const owner = isOwn ? (instance as object) : configuration;
    const compiled = this.#compiled.get(owner) ?? new WeakMap<LabelledConfiguration, Job>();
    const job = compiled.get(configuration) ?? this.compile(configuration, instance);
    this.#compiled.set(owner, compiled.set(configuration, job));
    return job;
  }

  /**
   * Admits all jobs, or none. Warns about a job that works, but perhaps not as intended.
   *
   * @throws InvalidLockConfigurationError for an invalid job, if two scheduled jobs have the same lock and it is not
   * shared, and if two once-per jobs have the same name
   */
  admit<D extends JobDeclaration>(declarations: readonly D[]): (Job & D & Expected)[] {
    const scheduled = new Map(this.#scheduled);
    const oncePer = new Map(this.#oncePer);
    const jobs = declarations.map((declaration) => {
      const job = this.jobOf(declaration.configuration, declaration.instance);
      const schedule = this.#scheduleOf(declaration, job);
      return { ...declaration, ...job, expectation: { schedule, declaredAt: undefined } };
    });
    for (const job of jobs) {
      // Without a fixed name, two jobs can share a lock only in some calls, if at all.
      const { name, shared } = job.lock;
      if (job.schedules !== undefined && job.nameOf === undefined) {
        const withLock = scheduled.get(name);
        if (withLock !== undefined && !(shared && withLock.lock.shared))
          throw new InvalidLockConfigurationError(
            `Lock '${name}' is used by ${withLock.place} and by ${job.place}. Give one of them another name, or set shared: true on both if they must exclude each other.`,
          );
        scheduled.set(name, job);
      }
      if (job.policy === undefined) continue;
      const withName = oncePer.get(job.policy.job);
      if (withName !== undefined)
        throw new InvalidLockConfigurationError(
          `Two once-per jobs have the name '${job.policy.job}': ${withName.place} and ${job.place}. The ledger identifies a job by its name, so give each job its own.`,
        );
      oncePer.set(job.policy.job, job);
    }
    this.#scheduled = scheduled;
    this.#oncePer = oncePer;
    for (const job of jobs) this.#warnOfFrequentTicks(job);
    return jobs;
  }

  /** @throws InvalidLockConfigurationError for a schedule that no scheduler has accepted, and that cannot be read here */
  #scheduleOf({ schedules = [], isAccepted }: JobDeclaration, { lock: { job } }: Job): Schedule | undefined {
    try {
      return Schedule.of(schedules, ` of job '${job}'`);
    } catch (error) {
      if (!isAccepted || !(error instanceof InvalidLockConfigurationError)) throw error;
      this.events.warn(
        `Job '${job}' is not watched: its scheduler runs it, but its times are unknown here. ${error.message}`,
      );
      return Schedule.UNKNOWN;
    }
  }

  /**
   * Skips a tick or call that may not run its job now, before anything is sent to the database, and reports it.
   *
   * @returns `undefined` if the job may run
   * @throws InvalidLockConfigurationError if `enabled` of the guard or of the job fails
   */
  skipIfDisabled(job: Job, report: CallReport): Skipped | undefined {
    return report.check(() => this.isEnabled() && job.isEnabled()) ? undefined : report.skip('disabled');
  }

  get longestWindowMs(): number {
    return Math.max(0, ...this.all.map(({ policy }) => policy.catchUp.windowMs));
  }

  get(name: string): AdmittedOncePerJob | undefined {
    return this.#oncePer.get(name);
  }

  get all(): readonly AdmittedOncePerJob[] {
    return [...this.#oncePer.values()];
  }

  /**
   * An instance whose timer is late gets the lock after another instance has run the same tick and released it. The
   * ledger prevents this for a once-per job. Ticks a minute apart are further apart than clocks usually differ.
   */
  #warnOfFrequentTicks(job: AdmittedJob): void {
    const { configuration, schedules = [], expectation } = job;
    // With `lockAtLeastFor: 0`, the job accepts this.
    if (job.policy !== undefined || configuration.lockAtLeastFor !== undefined) return;
    if (job.lock.lockAtLeastForMs > 0) return;
    const everyMs = intervalOf(schedules);
    const expressions = schedules.flatMap((each) => ('expression' in each ? each.expression : []));
    // With five fields, it is at most once a minute.
    const mayBeFrequent = expressions.some((each) => each.trim().split(/\s+/).length !== 5);
    const next = (mayBeFrequent && expectation.schedule?.following(new Date(), 3)) || [];
    const isFrequent = next.some(
      (at, index) => at.getTime() - Number(next[index - 1] ?? -Infinity) < MINUTE_MS,
    );
    if (!isFrequent && (everyMs ?? MINUTE_MS) >= MINUTE_MS) return;
    const when = isFrequent ? `at '${expressions.join("' and '")}'` : `every ${everyMs} ms`;
    const message = `Job '${job.lock.job}' is scheduled ${when}, which is more than once a minute, but has no lockAtLeastFor. If the timers of two instances differ, both can run the same tick, one after the other. Set lockAtLeastFor to a little less than the time between two ticks, or to 0 to accept this.`;
    this.events.warn(message);
  }
}

/** @param needing for example `Job 'close-day' needs` */
export function needsLedger(needing: string): InvalidLockConfigurationError {
  return new InvalidLockConfigurationError(
    `${needing} a ledger, but this guard has only locks. Create it with createJobGuard of a driver, or of cronlatch/memory. Pass another lock provider as its option lockProvider.`,
  );
}
