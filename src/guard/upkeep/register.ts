import { SchemaMismatchError, type TickEvent } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { LastingFailure } from '../../core/lasting-failure';
import { VERSION } from '../../core/version';
import type { DeclaredJob, DeclaredSchedule, JobRegistration, RegisteredJob } from '../../ledger';
import {
  declaredPolicy,
  declaredSince,
  differencesOf,
  isLeftToOther,
  REGISTER_EVERY_MS,
} from '../../ledger/job-register';
import { isHeldBack, lateTime, NEVER, scheduleOf } from '../../ledger/expected';
import { intervalOf } from '../../ledger/periods/schedule';
import { calendarPeriodsOf } from '../../ledger/policy/job-policy';
import { limitOf, retryTransient, type LedgerContext } from '../../ledger/store-statements';
import type { JobKeeper } from '../calls/calls';
import type { JobGuardOptions } from '../jobs/job-guard-options';
import { declaredJobOf, type AdmittedJob } from '../jobs/job';
import type { Service } from './upkeep';

/** Registers the jobs of one guard, writes which ticks they have answered, and reports late ones. Failures become warnings. */
export class Register implements JobKeeper, Service {
  readonly failure = 'Could not update the register of jobs. The guard will try again at the next poll.';
  readonly #entries = new Map<string, RegisterEntry>();
  #settling: Promise<void> | undefined;
  #registering: Promise<void> | undefined;
  #isRequested = false;
  #registeredAtMs = -Infinity;
  #polling: Promise<void> | undefined;
  readonly #lastingFailure: LastingFailure;
  #isEnabled = (): boolean => true;
  /** As it was last registered. */
  #wasEnabled = true;

  /** How long a scheduled time may have passed before its job is late. */
  readonly lateAfterMs: number;

  /** @throws InvalidLockConfigurationError for an invalid `lateAfter` */
  constructor(
    private readonly context: LedgerContext,
    { lateAfter = '5m' }: Pick<JobGuardOptions, 'lateAfter'>,
    /** `undefined`: without polls */
    readonly pollIntervalMs?: number,
  ) {
    const { events } = context;
    this.lateAfterMs = Math.max(parsePositiveDuration(lateAfter, 'lateAfter'), 2 * (pollIntervalMs ?? 0));
    this.#lastingFailure = new LastingFailure(events);
    events.on('tick', (event) => this.#onTick(event));
  }

  add(job: AdmittedJob): boolean {
    if (job.policy === undefined && (job.schedules ?? []).length === 0) return false;
    const name = job.lock.job;
    job.expectation.declaredAt = NEVER; // Until it is registered, nothing is expected.
    const earlier = this.#entries.get(name);
    const entry = new RegisterEntry(job, declaredJobOf(job));
    if (earlier === undefined || (job.policy && !earlier.job.policy)) this.#entries.set(name, entry);
    else if (!job.policy && !earlier.job.policy) this.#entries.set(name, earlier.mergedWith(entry));
    this.register();
    return true;
  }

  /** A job that can be called without a tick. */
  jobOf(name: string): AdmittedJob | undefined {
    return this.#entries.get(name)?.job;
  }

  showEnabled(isEnabled: () => boolean): void {
    this.#isEnabled = () => {
      try {
        return isEnabled();
      } catch {
        return true; // Ticks, and the check for overdue runs, report the failure.
      }
    };
    this.register();
  }

  register(): void {
    this.#isRequested = true;
    this.#registering ??= this.#registerRequested();
  }

  /** Registers, and writes what has been answered. Never rejects. */
  settle(): Promise<void> {
    return (this.#settling ??= this.#settle().finally(() => (this.#settling = undefined)));
  }

  async #settle(): Promise<void> {
    this.register();
    await this.#registering;
    await this.#attempt(() => this.#sendAnswers());
  }

  /** Registers, writes what has been answered, and reports late jobs. Never rejects. */
  run(): Promise<void> {
    this.#polling ??= this.settle()
      .then(() => this.#attempt(() => this.#reportLate()))
      .finally(() => (this.#polling = undefined));
    return this.#polling;
  }

  /** Sends what has not been sent, and waits for it. */
  async close(): Promise<void> {
    await Promise.all([this.#registering, this.#settling, this.#polling]);
    await this.#attempt(() => this.#sendAnswers());
  }

  #onTick(event: TickEvent): void {
    const entry = this.#entries.get(event.job ?? event.name);
    const { scheduledAt = new Date(this.context.clock.wallMs()) } = event;
    if (entry === undefined || !isAnswer(event, entry)) return;
    if ((entry.answeredAt ?? scheduledAt) <= scheduledAt) entry.answeredAt = scheduledAt;
  }

  async #registerRequested(): Promise<void> {
    // Jobs that are added one after the other are registered with one statement.
    await Promise.resolve();
    while (this.#isRequested) {
      this.#isRequested = false;
      await this.#attempt(() => this.#registerPending());
    }
    this.#registering = undefined; // At once: a later request must not wait for one that has ended.
  }

  async #registerPending(): Promise<void> {
    const { store, clock, instance: registeredBy } = this.context;
    const registeredAtMs = clock.monotonicMs();
    const isEnabled = this.#isEnabled();
    const hasChanged = isEnabled !== this.#wasEnabled;
    const isAgain = hasChanged || registeredAtMs - this.#registeredAtMs >= REGISTER_EVERY_MS;
    const wanted = [...this.#entries].filter(([, { isPending }]) => isPending || isAgain);
    if (wanted.length === 0) return;
    const before = await store.jobs(limitOf(this.context));
    const found = wanted.map(([job, entry]) => {
      const { disabled = isEnabled ? undefined : 'guard' } = entry.declared;
      const registration = { job, declared: { ...entry.declared, disabled }, version: VERSION, registeredBy };
      const stored = before.jobs.find((each) => each.job === job);
      const isNew = entry.isPending || (hasChanged && disabled !== 'job');
      const isLeft = stored && isLeftToOther(stored, registration, isNew, before.now);
      return { entry, registration, stored, isLeft };
    });
    if (isAgain) this.#registeredAtMs = registeredAtMs;
    this.#wasEnabled = isEnabled;
    const registrations = found.filter(({ isLeft }) => !isLeft).map(({ registration }) => registration);
    if (registrations.length > 0) await this.#send((options) => store.registerJobs(registrations, options));
    const rescheduled: RegisteredJob[] = [];
    for (const { entry, registration, stored, isLeft } of found) {
      if (isLeft && !entry.isPending) continue;
      const since = declaredSince(stored, registration, before.now);
      entry.isPending = false;
      entry.job.expectation.declaredAt = since;
      if (stored === undefined) continue;
      this.#warnOfDifference(stored, registration);
      if (since === before.now) rescheduled.push(stored);
    }
    await this.#warnOfUnanswered(rescheduled, before.now);
  }

  /** With the new schedules, the last times of the old ones would no longer be seen. */
  async #warnOfUnanswered(rescheduled: readonly RegisteredJob[], now: Date): Promise<void> {
    const recorded = rescheduled.filter(({ declared }) => declared.kind !== 'lock');
    const runs = recorded.length === 0 ? [] : await this.context.store.latest(limitOf(this.context));
    for (const stored of recorded) {
      const own = runs.filter(({ job }) => job === stored.job);
      const at = lateTime(stored, own, { now, lateAfterMs: 0 });
      const key = at && declaredPolicy(stored)?.periodAt(at).key;
      if (at === undefined || key === undefined) continue;
      this.context.events.warn(
        `Job '${stored.job}' has another schedule now. Its run for ${key}, due at ${at.toISOString()}, is missing, and no tick is left for it. To run it: cronlatch run ${stored.job}`,
      );
    }
  }

  /** Two deployments that declare a job differently may start it at different times, or lock it differently. */
  #warnOfDifference({ declared: there, ...stored }: RegisteredJob, { job, declared }: JobRegistration): void {
    // A job can be disabled on some instances.
    const differences = differencesOf({ ...there, disabled: declared.disabled }, declared)
      .map(({ option, before = 'none', now = 'none' }) => `${option} (there ${before}, here ${now})`)
      .join(', ');
    if (differences === '' || stored.registeredBy === this.context.instance) return;
    const readings = new Set([...there.schedules, ...declared.schedules].flatMap(readingOfDays));
    const days = readings.size > 1 ? ` ${[...readings].join(', ')}.` : '';
    const message = `Job '${job}' is declared differently than by ${stored.registeredBy}, which registered it at ${stored.registeredAt.toISOString()}: ${differences}.${days} If that instance is still running, deploy the same version to both.`;
    this.context.events.warn(message);
  }

  async #sendAnswers(): Promise<void> {
    const unsent = [...this.#entries].flatMap(([job, { answeredAt, sentAt }]) =>
      answeredAt === undefined || answeredAt === sentAt ? [] : [{ job, answeredAt }],
    );
    if (unsent.length === 0) return;
    await this.#send((options) => this.context.store.answerJobs(unsent, options));
    for (const { job, answeredAt } of unsent) this.#entries.get(job)!.sentAt = answeredAt;
  }

  /** Another instance may have answered a tick that this one has not, so the register and the ledger decide. */
  async #reportLate(): Promise<void> {
    const { store, clock, events, lockProvider } = this.context;
    const before = new Date(clock.wallMs() - this.lateAfterMs);
    const due = [...this.#entries].flatMap(([job, entry]) => {
      const at = entry.dueBefore(before);
      return at === undefined ? [] : [{ job, entry, at }];
    });
    if (due.length === 0) return;
    const register = await store.jobs(limitOf(this.context));
    const runs = await store.latest(limitOf(this.context));
    const of = { now: register.now, lateAfterMs: this.lateAfterMs };
    for (const { job, entry, at } of due) {
      const stored = register.jobs.find((each) => each.job === job);
      // An operator may have deleted its row.
      if (stored === undefined) entry.isPending = true;
      const own = runs.filter((run) => run.job === job);
      const late = stored && lateTime(stored, own, of);
      const { lock: name } = entry.declared;
      // The next poll looks again.
      if (late && isHeldBack(entry, await lockProvider.inspect?.(name))) continue;
      if (at.getTime() <= register.now.getTime() - this.lateAfterMs) entry.settledAt = at;
      if (late !== undefined) events.emit('job:late', { name, job, scheduledAt: late });
    }
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
      if (!(error instanceof SchemaMismatchError)) return this.#lastingFailure.report(this.failure, error);
      for (const { job } of this.#entries.values()) job.expectation.declaredAt = undefined;
      this.#lastingFailure.report(`The jobs are not registered. ${error.message}`);
    }
  }
}

/** A job of this guard, and what the register knows of it. */
class RegisterEntry {
  /** The register does not have this declaration yet. */
  isPending = true;
  answeredAt: Date | undefined;
  sentAt: Date | undefined;
  /** The newest time that may have been late. The register and the ledger have shown whether it was. */
  settledAt: Date | undefined;

  constructor(
    readonly job: AdmittedJob,
    readonly declared: DeclaredJob,
  ) {}

  /** The newest time before this one that may be late. */
  dueBefore(before: Date): Date | undefined {
    const { declared, job, answeredAt = new Date(0) } = this;
    const { declaredAt } = job.expectation;
    if (this.isPending || declared.disabled || declaredAt === undefined) return undefined;
    const everyMs = intervalOf(declared.schedules);
    const since = answeredAt > declaredAt ? answeredAt : declaredAt;
    const due =
      everyMs === undefined ? scheduleOf(declared)?.newest(before) : new Date(since.getTime() + everyMs);
    if (due === undefined || due > before || due <= since) return undefined;
    return due.getTime() === this.settledAt?.getTime() ? undefined : due;
  }

  /** Jobs that share a lock are one job of the register. */
  mergedWith({ declared: added }: RegisterEntry): RegisterEntry {
    const { job, declared, answeredAt } = this;
    const known = new Set(declared.schedules.map((schedule) => JSON.stringify(schedule)));
    const more = added.schedules.filter((schedule) => !known.has(JSON.stringify(schedule)));
    const disabled = declared.disabled && added.disabled;
    if (more.length === 0 && disabled === declared.disabled) return this;
    const both = { ...declared, schedules: [...declared.schedules, ...more], disabled };
    return Object.assign(new RegisterEntry(job, both), { answeredAt });
  }
}

/** Whether a tick shows that its scheduled time needs no further answer. */
function isAnswer({ outcome, reason }: TickEvent, { job }: RegisterEntry): boolean {
  // Another instance may still answer a tick that this one has skipped.
  if (outcome === 'lock-failed' || reason === 'disabled' || reason === 'closing') return false;
  // A once-per job may have no run of its period then.
  const mayLackRun = reason === 'locked' || reason === 'running-here' || reason === 'calendar';
  return !mayLackRun || job.policy === undefined || calendarPeriodsOf(job.policy) === undefined;
}

/** How the scheduler reads an expression that names days of the month and weekdays. */
function readingOfDays(schedule: DeclaredSchedule): string[] {
  if (!('expression' in schedule)) return [];
  const [day, , weekday] = schedule.expression.split(/\s+/).slice(-3);
  const reading =
    schedule.dialect === 'node-cron' ? 'both the day and the weekday match' : 'either of them matches';
  return day === '*' || weekday === '*' ? [] : [`${schedule.dialect} runs it on dates where ${reading}`];
}
