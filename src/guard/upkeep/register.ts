import { SchemaMismatchError, type LockEvent, type TickEvent } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { LastingFailure } from '../../core/lasting-failure';
import { VERSION } from '../../core/version';
import type { DeclaredJob, JobRegistration, RegisteredJob } from '../../ledger';
import {
  differencesOf,
  isActiveElsewhere,
  isDeclaredOtherwise,
  nextAfterRegistration,
  REGISTER_EVERY_MS,
} from '../../ledger/job-register';
import { findLateJobs, isRecorded } from '../../ledger/known-register';
import { limitOf, retryTransient, type LedgerContext } from '../../ledger/store-statements';
import type { JobKeeper } from '../calls/calls';
import type { JobGuardOptions } from '../jobs/job-guard-options';
import { declaredJobOf, type AdmittedJob, type JobDeclaration } from '../jobs/job';
import type { Service } from './upkeep';

/**
 * Registers the jobs of one guard, and moves their next scheduled times on. The guard's events show which ticks are
 * answered. Its failures become warnings.
 */
export class Register implements JobKeeper, Service {
  readonly failure = 'Could not update the register of jobs. The guard will try again at the next poll.';
  readonly #entries = new Map<string, RegisterEntry>();
  #registering: Promise<void> | undefined;
  #isRequested = false;
  #registeredAtMs = -Infinity;
  #polling: Promise<void> | undefined;
  readonly #lastingFailure: LastingFailure;
  #isOnStandby = (): boolean => false;
  /** As it was last registered. */
  #wasOnStandby = false;

  /** How long a scheduled time may have passed before its job is late. */
  readonly lateAfterMs: number;

  /** @throws InvalidLockConfigurationError for an invalid `lateAfter` */
  constructor(
    private readonly context: LedgerContext,
    { lateAfter = '5m' }: Pick<JobGuardOptions, 'lateAfter'>,
    pollIntervalMs = 0,
  ) {
    const { events } = context;
    this.lateAfterMs = Math.max(parsePositiveDuration(lateAfter, 'lateAfter'), 2 * pollIntervalMs);
    this.#lastingFailure = new LastingFailure(events);
    // The next poll finds the run of a period that began without its tick.
    events.on('run:started', (event) => this.#entryOf(event)?.answer(event.scheduledAt));
    events.on('tick', (event) => this.#onTick(event));
  }

  add(job: AdmittedJob): boolean {
    const isScheduled = (job.schedules ?? []).length > 0 || job.intervalMs !== undefined;
    if (job.policy === undefined && !isScheduled) return false;
    const name = job.lock.job;
    const earlier = this.#entries.get(name);
    const entry = new RegisterEntry(job, declaredJobOf(job), job.nextAfter);
    if (earlier === undefined || (job.policy && !earlier.job.policy)) this.#entries.set(name, entry);
    else if (!job.policy && !earlier.job.policy) this.#entries.set(name, earlier.mergedWith(entry));
    this.register();
    return true;
  }

  /** A job that can be called without a tick. */
  jobOf(name: string): AdmittedJob | undefined {
    return this.#entries.get(name)?.job;
  }

  showStandby(isOnStandby: () => boolean): void {
    this.#isOnStandby = () => {
      try {
        return isOnStandby();
      } catch {
        return false; // Ticks, and the check for overdue runs, report the failure.
      }
    };
    this.register();
  }

  register(): void {
    this.#isRequested = true;
    this.#registering ??= this.#registerRequested().finally(() => (this.#registering = undefined));
  }

  /** Registers, moves scheduled times on, and reports late jobs. Never rejects. */
  async run(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = undefined));
    await this.#polling;
  }

  /** Sends what has not been sent, and waits for it. */
  async close(): Promise<void> {
    await Promise.all([this.#registering, this.#polling]);
    await this.#attempt(() => this.#moveOn());
  }

  #entryOf({ name, job = name }: LockEvent): RegisterEntry | undefined {
    return this.#entries.get(job);
  }

  #onTick(event: TickEvent): void {
    const entry = this.#entryOf(event);
    if (entry !== undefined && isAnswer(event, entry)) entry.answer(event.scheduledAt);
  }

  async #registerRequested(): Promise<void> {
    // Jobs that are added one after the other are registered with one statement.
    await Promise.resolve();
    while (this.#isRequested) {
      this.#isRequested = false;
      await this.#attempt(() => this.#registerPending());
    }
  }

  async #registerPending(): Promise<void> {
    const { store, clock, instance: registeredBy } = this.context;
    const now = new Date(clock.wallMs());
    const registeredAtMs = clock.monotonicMs();
    const isOnStandby = this.#isOnStandby();
    const isAgain =
      registeredAtMs - this.#registeredAtMs >= REGISTER_EVERY_MS || isOnStandby !== this.#wasOnStandby;
    const wanted = [...this.#entries].flatMap(([job, entry]) => {
      const { declared, next } = entry;
      const nextScheduledAt = next === undefined || (isAgain && next < now) ? entry.nextAfter(now) : next;
      const isPending = entry.isPending || (next === undefined && nextScheduledAt !== undefined);
      if (!isPending && !isAgain) return [];
      const registration = { job, declared, nextScheduledAt, version: VERSION, registeredBy };
      return { entry, isPending, registration };
    });
    if (wanted.length === 0) return;
    const before = await store.jobs(limitOf(this.context));
    const storedOf = (job: string) => before.jobs.find((each) => each.job === job);
    const isPassive = (job: string): boolean =>
      isOnStandby && !isActiveElsewhere(storedOf(job), registeredBy, before.now);
    const pending = wanted.filter(({ isPending, registration: { job, declared } }) => {
      const stored = storedOf(job);
      if (isPending || stored === undefined) return true;
      return isOnStandby === isPassive(job) && !isDeclaredOtherwise(stored, declared, before.now);
    });
    if (isAgain) this.#registeredAtMs = registeredAtMs;
    this.#wasOnStandby = isOnStandby;
    if (pending.length === 0) return;
    const registrations = pending.map(({ registration: { declared, ...others } }) => ({
      ...others,
      declared: isPassive(others.job) ? { ...declared, standby: true as const } : declared,
    }));
    await this.#send((options) => store.registerJobs(registrations, options));
    for (const { entry, registration } of pending) {
      const stored = storedOf(registration.job);
      entry.isPending = false;
      entry.next = nextAfterRegistration(stored, registration, before.now);
      if (stored !== undefined) this.#warnOfDifference(stored, registration);
    }
  }

  /** Two deployments that declare a job differently may start it at different times, or lock it differently. */
  #warnOfDifference({ declared: there, ...stored }: RegisteredJob, { job, declared }: JobRegistration): void {
    // A job can be turned off on some instances.
    const differences = differencesOf({ ...there, enabled: declared.enabled }, declared)
      .map(({ option, before = 'none', now = 'none' }) => `${option} (there ${before}, here ${now})`)
      .join(', ');
    if (differences === '' || stored.registeredBy === this.context.instance) return;
    const message = `Job '${job}' is declared differently than by ${stored.registeredBy}, which registered it at ${stored.registeredAt.toISOString()}: ${differences}. If that instance is still running, deploy the same version to both.`;
    this.context.events.warn(message);
  }

  async #poll(): Promise<void> {
    this.register();
    await this.#registering;
    await this.#attempt(async () => {
      await this.#reportLate();
      await this.#moveOn();
    });
  }

  async #moveOn(): Promise<void> {
    const { store } = this.context;
    const answered = [...this.#entries].flatMap(([job, entry]) => {
      const { answeredAt } = entry;
      if (answeredAt === undefined || !entry.isAnswered) return [];
      return { entry, change: { job, answeredAt, nextScheduledAt: entry.nextAfter(answeredAt) } };
    });
    if (answered.length === 0) return;
    const changes = answered.map(({ change }) => change);
    await this.#send((options) => store.updateJobs(changes, options));
    for (const { entry, change } of answered) entry.next = change.nextScheduledAt;
  }

  /** Another instance may have answered a tick that this one has not, so the register and the ledger decide. */
  async #reportLate(): Promise<void> {
    const { store, clock, events } = this.context;
    const nowMs = clock.wallMs();
    const waiting = [...this.#entries].filter(
      ([, entry]) => isRecorded(entry.declared) && !entry.isAnswered && Number(entry.next ?? NaN) < nowMs,
    );
    if (waiting.length === 0) return;
    const register = await store.jobs(limitOf(this.context));
    const late = findLateJobs(register, this.lateAfterMs);
    for (const [job, entry] of waiting) {
      const stored = register.jobs.find((each) => each.job === job);
      // An operator may have deleted its row.
      if (stored === undefined) entry.isPending = true;
      const next = (entry.next = stored?.nextScheduledAt);
      if (next === undefined || next > register.now) continue;
      if (await this.#hasRun(entry, next)) entry.answer(next);
      const isLate = late.has(job) && !entry.isAnswered;
      if (!isLate || entry.reportedAt?.getTime() === next.getTime()) continue;
      entry.reportedAt = next;
      events.emit('job:late', { name: entry.declared.lock, job, scheduledAt: next });
    }
  }

  /** Its instance may have crashed before it could move the scheduled time on. */
  async #hasRun(entry: RegisterEntry, at: Date): Promise<boolean> {
    const { store } = this.context;
    const [job, periodKey] = [entry.job.lock.job, entry.periodKeyAt(at)];
    if (periodKey === undefined) return false;
    const query = { job, periodKey, order: 'newest-first', limit: 1 } as const;
    return (await store.find(query, limitOf(this.context))).length > 0;
  }

  /** Sends a statement, and again if other transactions were in its way. */
  async #send(statement: Parameters<typeof retryTransient<void>>[1]): Promise<void> {
    await retryTransient(this.context, statement, (outcome) => outcome === 'contention');
    this.#lastingFailure.end();
  }

  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (error instanceof SchemaMismatchError)
        this.#lastingFailure.report(`The jobs are not registered. ${error.message}`);
      else this.#lastingFailure.report(this.failure, error);
    }
  }
}

/** A job of this guard, and what the register knows of it. */
class RegisterEntry {
  /** The register does not have this declaration yet. */
  isPending = true;
  /** The next scheduled time in the register, as far as it is known here. */
  next: Date | undefined;
  answeredAt: Date | undefined;
  reportedAt: Date | undefined;

  constructor(
    readonly job: AdmittedJob,
    readonly declared: DeclaredJob,
    readonly nextAfter: NonNullable<JobDeclaration['nextAfter']> = () => undefined,
  ) {}

  answer(scheduledAt: Date | undefined): void {
    if (scheduledAt !== undefined && (this.answeredAt ?? scheduledAt) <= scheduledAt)
      this.answeredAt = scheduledAt;
  }

  get isAnswered(): boolean {
    const { isPending, next, answeredAt } = this;
    return !isPending && next !== undefined && answeredAt !== undefined && next <= answeredAt;
  }

  /** `undefined` if the job has no periods, or its key function fails. */
  periodKeyAt(instant: Date): string | undefined {
    const { policy } = this.job;
    try {
      return policy?.periodAt(instant).key;
    } catch {
      return undefined; // Its ticks report the failure.
    }
  }

  /** Jobs that share a lock are one job of the register. */
  mergedWith(added: RegisterEntry): RegisterEntry {
    const { declared, answeredAt, reportedAt } = this;
    const known = new Set(declared.schedules.map((schedule) => JSON.stringify(schedule)));
    const more = added.declared.schedules.filter((schedule) => !known.has(JSON.stringify(schedule)));
    const enabled = declared.enabled === added.declared.enabled ? declared.enabled : undefined;
    if (more.length === 0 && enabled === declared.enabled) return this;
    const both = { ...declared, schedules: [...declared.schedules, ...more], enabled };
    const merged = new RegisterEntry(this.job, both, (after) => {
      const times = [this.nextAfter(after), added.nextAfter(after)].filter((time) => time !== undefined);
      return times.sort((a, b) => a.getTime() - b.getTime())[0];
    });
    return Object.assign(merged, { answeredAt, reportedAt });
  }
}

/** Another instance may still answer a tick that this one has skipped for such a reason. */
const NO_ANSWER: ReadonlySet<string | undefined> = new Set(['disabled', 'closing', 'standby']);
/** A once-per job may have no run of its period then. If it has one, the next poll finds it. */
const NO_RUN: ReadonlySet<string | undefined> = new Set(['locked', 'running-here', 'calendar']);

/** Whether a tick shows that its scheduled time needs no further answer. */
function isAnswer({ outcome, reason }: TickEvent, { job }: RegisterEntry): boolean {
  if (outcome === 'lock-failed' || NO_ANSWER.has(reason)) return false;
  return job.policy === undefined || job.policy.period.kind === 'tick' || !NO_RUN.has(reason);
}
