import { SchemaMismatchError } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { instanceName } from '../../core/lease/owner';
import { VERSION } from '../../core/version';
import type { DeclaredJob, JobRegistration, RegisteredJob } from '../../ledger';
import {
  findLateJobs,
  isAnswerKept,
  nextAfterRegistration,
  REGISTER_EVERY_MS,
  IDLE_AFTER_MS,
} from '../../ledger/job-register';
import {
  hasRegister,
  limitOf,
  retryTransient,
  type LedgerContext,
  type RegisteringStore,
} from '../../ledger/store-statements';
import type { JobGuardOptions } from '../job-guard-options';
import type { Job, JobDeclaration } from './job';
import { describeDifferences, RegisterEntries, registeredName, type RegisterEntry } from './register-entries';

interface RegisterContext extends LedgerContext {
  readonly store: RegisteringStore;
  /** How long a scheduled time may have passed before its job is late. */
  readonly lateAfterMs: number;
}

/** @throws InvalidLockConfigurationError for an invalid `lateAfter` */
export function registeredJobsOf(
  context: LedgerContext,
  { lateAfter = '5m' }: Pick<JobGuardOptions, 'lateAfter'>,
  pollIntervalMs = 0,
): RegisteredJobs | undefined {
  const toleranceMs = parsePositiveDuration(lateAfter, 'lateAfter');
  const { store } = context;
  if (!hasRegister(store)) return undefined;
  return new RegisteredJobs({ ...context, store, lateAfterMs: Math.max(toleranceMs, 2 * pollIntervalMs) });
}

const INSTANCE = instanceName();

/** Registers the jobs of one guard, and moves their next scheduled times on. Its failures become warnings. */
export class RegisteredJobs {
  readonly #entries: RegisterEntries;
  readonly #recording = new Set<Promise<void>>();
  #registering: Promise<void> | undefined;
  #isRequested = false;
  #registeredAtMs = -Infinity;
  #polling: Promise<void> | undefined;
  /** A failure that lasts is reported once. */
  #hasFailed = false;

  constructor(private readonly context: RegisterContext) {
    this.#entries = new RegisterEntries(context, (job, entry) => this.#record(job, entry));
  }

  /**
   * Adds jobs that are scheduled, run once per period, or have a history.
   *
   * @returns whether there was any
   */
  add(jobs: readonly Job[], declarations: readonly Partial<JobDeclaration>[] = []): boolean {
    const added = jobs.filter((job, index) => this.#entries.add(job, declarations[index] ?? {}));
    if (added.length > 0) this.register();
    return added.length > 0;
  }

  /** Adds a job with a history that was not declared before its first call. */
  addCalled(job: Job): void {
    if (job.history && !this.#entries.byJob.has(registeredName(job))) this.add([job]);
  }

  /** Registers new jobs, and jobs whose next scheduled time has become known. Does not wait for it. */
  register(): void {
    this.#isRequested = true;
    this.#registering ??= this.#registerRequested().finally(() => (this.#registering = undefined));
  }

  /** Registers, moves scheduled times on, and reports late jobs. Never rejects. */
  async poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = undefined));
    await this.#polling;
  }

  /** Sends what has not been sent, and waits for it. */
  async close(): Promise<void> {
    await Promise.all([this.#registering, this.#polling, ...this.#recording]);
    await this.#attempt(() => this.#moveOn());
  }

  /** Records the last run of a job, without waiting for it. */
  #record(job: string, entry: RegisterEntry): void {
    if (entry.isPending) this.register();
    const recording = this.#sendLastRun(job, entry).catch((error: unknown) => {
      // A missing table has been reported when the job was registered.
      if (this.#hasFailed && error instanceof SchemaMismatchError) return;
      const message = `Could not record the last run of job '${job}'.`;
      this.context.events.emit('guard:warning', { message, error });
    });
    this.#recording.add(recording);
    void recording.then(() => this.#recording.delete(recording));
  }

  async #sendLastRun(job: string, entry: RegisterEntry): Promise<void> {
    await this.#registering;
    const { ended } = entry;
    if (ended === undefined) return; // The record of a later call includes it.
    entry.ended = undefined;
    const { clock, store } = this.context;
    const { startedAtMs, finishedAtMs, outcome } = ended;
    await this.#send((options) => {
      const nowMs = clock.monotonicMs();
      const [startedMsAgo, finishedMsAgo] = [nowMs - startedAtMs, nowMs - finishedAtMs];
      return store.updateJobs([{ job, startedMsAgo, finishedMsAgo, outcome, holder: INSTANCE }], options);
    });
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
    const { store, clock } = this.context;
    const now = new Date(clock.wallMs());
    const registeredAtMs = clock.monotonicMs();
    const isAgain = registeredAtMs - this.#registeredAtMs >= REGISTER_EVERY_MS;
    const wanted = [...this.#entries.byJob].flatMap(([job, entry]) => {
      const { declared, next } = entry;
      const nextScheduledAt = next === undefined || (isAgain && next < now) ? entry.nextAfter(now) : next;
      const isPending = entry.isPending || (next === undefined && nextScheduledAt !== undefined);
      if (!isPending && !isAgain) return [];
      const registration = { job, declared, nextScheduledAt, version: VERSION, registeredBy: INSTANCE };
      return { entry, isPending, registration };
    });
    if (wanted.length === 0) return;
    const before = await store.jobs(limitOf(this.context));
    const storedOf = (job: string) => before.jobs.find((each) => each.job === job);
    const pending = wanted.filter(({ isPending, registration: { job, declared } }) => {
      const stored = storedOf(job);
      return isPending || stored === undefined || !isOthers(stored, declared, before.now);
    });
    if (isAgain) this.#registeredAtMs = registeredAtMs;
    if (pending.length === 0) return;
    const registrations = pending.map(({ registration }) => registration);
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
    const differences = describeDifferences({ ...there, enabled: declared.enabled }, declared);
    if (differences === '' || stored.registeredBy === INSTANCE) return;
    const message = `Job '${job}' is declared differently than by ${stored.registeredBy}, which registered it at ${stored.registeredAt.toISOString()}: ${differences}. If that instance is still running, deploy the same version to both.`;
    this.context.events.emit('guard:warning', { message });
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
    const answered = [...this.#entries.byJob].flatMap(([job, entry]) => {
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
    const { store, clock, lateAfterMs, events } = this.context;
    const nowMs = clock.wallMs();
    const waiting = [...this.#entries.byJob].filter(
      ([, entry]) => isAnswerKept(entry.declared) && !entry.isAnswered && Number(entry.next ?? NaN) < nowMs,
    );
    if (waiting.length === 0) return;
    const register = await store.jobs(limitOf(this.context));
    const late = findLateJobs(register, lateAfterMs);
    for (const [job, entry] of waiting) {
      const stored = register.jobs.find((each) => each.job === job);
      // An operator may have deleted its row.
      if (stored === undefined) entry.isPending = true;
      const next = (entry.next = stored?.nextScheduledAt);
      if (next === undefined || next > register.now) continue;
      if (await this.#hasRun(entry, next, stored?.lastStartedAt)) entry.answer(next);
      const isLate = late.some((each) => each.job === job) && !entry.isAnswered;
      if (!isLate || entry.reportedAt?.getTime() === next.getTime()) continue;
      entry.reportedAt = next;
      events.emit('job:late', { name: entry.declared.lock, job, scheduledAt: next });
    }
  }

  /** Its instance may have crashed before it could move the scheduled time on. */
  async #hasRun(entry: RegisterEntry, at: Date, lastStartedAt: Date | undefined): Promise<boolean> {
    if (entry.job.policy === undefined) return lastStartedAt !== undefined && lastStartedAt >= at;
    const { store } = this.context;
    const [job, periodKey] = [registeredName(entry.job), entry.periodKeyAt(at)];
    if (periodKey === undefined) return false;
    const query = { job, periodKey, order: 'newest-first', limit: 1 } as const;
    return (await store.find(query, limitOf(this.context))).length > 0;
  }

  /** Sends a statement, and again if other transactions were in its way. */
  async #send(statement: Parameters<typeof retryTransient<void>>[1]): Promise<void> {
    await retryTransient(this.context, statement, (outcome) => outcome === 'contention');
    this.#hasFailed = false;
  }

  /** Reports the failure of `act`. */
  async #attempt(act: () => Promise<void>): Promise<void> {
    try {
      await act();
    } catch (error) {
      if (this.#hasFailed) return;
      this.#hasFailed = true;
      const isUnusable = error instanceof SchemaMismatchError;
      const message = isUnusable
        ? `The jobs are not registered. ${error.message}`
        : 'Could not update the register of jobs. The guard will try again at the next poll.';
      this.context.events.emit('guard:warning', isUnusable ? { message } : { message, error });
    }
  }
}

/** Whether other instances keep registering another declaration. A job that is turned off here may run elsewhere. */
function isOthers({ declared: there, registeredAt }: RegisteredJob, here: DeclaredJob, now: Date): boolean {
  if (there.enabled !== here.enabled) return here.enabled === false;
  const isFresh = now.getTime() - registeredAt.getTime() < IDLE_AFTER_MS;
  return isFresh && describeDifferences(there, here) !== '';
}
