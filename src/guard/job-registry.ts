import { InvalidLockConfigurationError } from '../core';
import { parsePositiveDuration } from '../core/duration';
import { checkNameLength, DEFAULT_NAME_LENGTH } from '../core/lock-name';
import {
  compileJob,
  isOncePer,
  type AdmittedJob,
  type Job,
  type JobDeclaration,
  type JobDefaults,
  type OncePer,
} from './job';
import type { GuardConfiguration, JobGuardOptions } from './job-guard-options';

type OncePerJob = OncePer<AdmittedJob>;

/** Of one declaration there is one job. */
export type Declarations = readonly JobDeclaration[] | readonly [JobDeclaration];
export type Admitted<D extends Declarations> = { readonly [K in keyof D]: AdmittedJob };

/** The jobs of one guard: each is compiled once, and checked against the others when it is admitted. */
export class JobRegistry {
  readonly #defaults: JobDefaults;
  readonly #hasLedger: boolean;
  /** By configurations that do not change any more. */
  readonly #compiled = new WeakMap<GuardConfiguration, Job>();
  #oncePer: ReadonlyMap<string, OncePerJob> = new Map();
  /** The scheduled jobs, by the names of their locks. */
  #scheduled: ReadonlyMap<string, AdmittedJob> = new Map();

  /** @throws InvalidLockConfigurationError naming the option */
  constructor(
    { nameLength = DEFAULT_NAME_LENGTH, defaultLockAtMostFor, runStore }: JobGuardOptions,
    private readonly warn: (message: string) => void,
  ) {
    if (defaultLockAtMostFor !== undefined)
      parsePositiveDuration(defaultLockAtMostFor, 'defaultLockAtMostFor');
    this.#defaults = { nameLength: checkNameLength(nameLength), lockAtMostFor: defaultLockAtMostFor };
    this.#hasLedger = runStore !== undefined;
  }

  /** @throws InvalidLockConfigurationError naming the lock or the job, and the value */
  compile(configuration: GuardConfiguration): Job {
    const job = compileJob(configuration, this.#defaults);
    if (isOncePer(job) && !this.#hasLedger) throw needsLedger(job.lock.name);
    return job;
  }

  /** The same for a configuration that does not change any more: it is compiled once. */
  jobOf(configuration: GuardConfiguration): Job {
    const known = this.#compiled.get(configuration);
    if (known !== undefined) return known;
    const job = this.compile(configuration);
    this.#compiled.set(configuration, job);
    return job;
  }

  /**
   * All or none. Warns of what works, but perhaps not as it is meant.
   *
   * @throws InvalidLockConfigurationError for what cannot run, for a lock of two scheduled jobs that is not shared, and
   * for a name of two once-per jobs
   */
  admit<D extends Declarations>(declarations: D): Admitted<D> {
    const scheduled = new Map(this.#scheduled);
    const oncePer = new Map(this.#oncePer);
    const jobs = declarations.map(({ place, configuration, call, isReady = () => true, schedules }) => {
      const job = { ...this.jobOf(configuration), place, call, isReady };
      if (schedules !== undefined) addScheduled(scheduled, job);
      return job;
    });
    for (const job of jobs) if (isOncePer(job)) addOncePer(oncePer, job);
    this.#scheduled = scheduled;
    this.#oncePer = oncePer;
    for (const declaration of declarations) this.#warnOfMissedDates(declaration);
    return jobs as unknown as Admitted<D>;
  }

  /** The admitted once-per job of this name. */
  get(name: string): OncePerJob | undefined {
    return this.#oncePer.get(name);
  }

  /** The admitted once-per jobs. */
  get all(): readonly OncePerJob[] {
    return [...this.#oncePer.values()];
  }

  /** The calendar decides which periods count as missed. It must leave out the dates that the cron expression does. */
  #warnOfMissedDates({ place, configuration, schedules = [] }: JobDeclaration): void {
    const { catchUp = 'none', calendar, period } = configuration.oncePer ?? {};
    if (typeof period === 'function' || catchUp === 'none' || calendar !== undefined) return;
    const expression = schedules.map((schedule) => schedule.expression).find(leavesDatesOut);
    if (expression === undefined) return;
    this.warn(
      `${place} is scheduled at '${expression}', which leaves dates out, and catches up with every date that has no run: give it a calendar, for example weekdays().`,
    );
  }
}

export function needsLedger(name: string): InvalidLockConfigurationError {
  return new InvalidLockConfigurationError(
    `'${name}' needs a ledger, and this guard has none: give it a runStore, or make it by createJobGuard(dataSource).`,
  );
}

function addScheduled(scheduled: Map<string, AdmittedJob>, job: AdmittedJob): void {
  const { name, shared } = job.lock;
  const earlier = scheduled.get(name);
  if (earlier !== undefined && !(shared && earlier.lock.shared)) {
    throw new InvalidLockConfigurationError(
      `Lock '${name}' is on ${earlier.place} and on ${job.place}: give one of them another name, or say shared: true on both if they are to exclude each other.`,
    );
  }
  scheduled.set(name, job);
}

function addOncePer(oncePer: Map<string, OncePerJob>, job: OncePerJob): void {
  const name = job.policy.job;
  const earlier = oncePer.get(name);
  if (earlier !== undefined) {
    throw new InvalidLockConfigurationError(
      `Two once-per jobs are called '${name}', ${earlier.place} and ${job.place}: the ledger knows a job by its name, so give each one of its own.`,
    );
  }
  oncePer.set(name, job);
}

/** Its fields of the day, the month or the weekday, which are the last three, name something. */
function leavesDatesOut(expression: string): boolean {
  return expression
    .trim()
    .split(/\s+/)
    .slice(-3)
    .some((field) => field !== '*' && field !== '?');
}
