import type { CronlatchEvents, TickDetails, TickEvent } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { instanceName } from '../../core/lease/owner';
import { VERSION } from '../../core/version';
import type { JobRegistration, RegisteredJob } from '../../ledger';
import { findOverdueJobs, isAnswerKept, nextAfterRegistration } from '../../ledger/job-register';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import { describeDifferences, registeredName } from './declared-job';
import type { JobGuardOptions } from '../job-guard-options';
import type { Job, JobDeclaration } from './job';
import {
  isAnswered,
  isWaiting,
  mergedEntry,
  newEntry,
  periodKeyAt,
  type RegisterEntry,
} from './register-entry';
import { hasRegister, RegisterSender, type RegisterContext } from './register-sender';

/** @throws InvalidLockConfigurationError for an invalid `overdueAfter` */
export function registeredJobsOf(
  context: LedgerContext,
  { overdueAfter = '5m' }: Pick<JobGuardOptions, 'overdueAfter'>,
  pollIntervalMs = 0,
): RegisteredJobs | undefined {
  const toleranceMs = parsePositiveDuration(overdueAfter, 'overdueAfter');
  const { store } = context;
  if (!hasRegister(store)) return undefined;
  return new RegisteredJobs({ ...context, store, overdueAfterMs: Math.max(toleranceMs, 2 * pollIntervalMs) });
}

type TickEnd = Pick<TickEvent, 'outcome' | 'reason'>;

/** Observes one call of a job. */
export interface CallWatch {
  readonly started: () => void;
  readonly ended: (end: TickEnd) => void;
}

/** Another instance may still answer a tick that this one has skipped for such a reason. */
const NO_ANSWER: ReadonlySet<string | undefined> = new Set(['disabled', 'closing', 'standby']);
const ANSWERED = { outcome: 'completed' } as const;
const INSTANCE = instanceName();

/** Registers the jobs of one guard, and moves their next scheduled times on. Its failures become warnings. */
export class RegisteredJobs {
  readonly #entries = new Map<string, RegisterEntry>();
  #registering: Promise<void> | undefined;
  #isRequested = false;
  #polling: Promise<void> | undefined;
  readonly #sender: RegisterSender;

  constructor(private readonly context: RegisterContext) {
    this.#sender = new RegisterSender(context);
    context.events.on('run:started', (event) => this.#onRunStarted(event));
    context.events.on('tick', ({ name, scheduledAt, ...end }) => {
      if (this.#entries.get(name)?.declared.kind === 'tick') this.#onTick(name, scheduledAt, end);
    });
  }

  /**
   * Adds jobs that are scheduled, run once per period, or have a history.
   *
   * @returns whether any was added
   */
  add(jobs: readonly Job[], declarations: readonly Partial<JobDeclaration>[] = []): boolean {
    const added = jobs.filter((job, index) => this.#add(job, declarations[index] ?? {}));
    if (added.length > 0) this.register();
    return added.length > 0;
  }

  /** Registers new jobs, and jobs whose next scheduled time has become known. Does not wait for it. */
  register(): void {
    this.#isRequested = true;
    this.#registering ??= this.#registerRequested().finally(() => (this.#registering = undefined));
  }

  /** @returns `undefined` if the register does not need to know about the call */
  watch(job: Job, tick: TickDetails): CallWatch | undefined {
    const name = registeredName(job);
    if (!this.#entries.has(name) && !(job.history && this.add([job]))) return undefined;
    const { clock } = this.context;
    let startedAtMs: number | undefined;
    return {
      started: () => {
        startedAtMs = clock.monotonicMs();
        this.#onTick(name, tick.scheduledAt, ANSWERED);
      },
      ended: (end) => {
        this.#onTick(name, tick.scheduledAt, end);
        if (job.history && startedAtMs !== undefined && tick.durationMs !== undefined)
          this.#sender.recordRun(this.#registering, {
            ...{ job: name, startedAtMs, durationMs: tick.durationMs, holder: INSTANCE },
            outcome: end.outcome === 'completed' ? 'completed' : 'failed',
          });
      },
    };
  }

  /** Registers, moves scheduled times on, and reports overdue jobs. Never rejects. */
  async poll(): Promise<void> {
    this.#polling ??= this.#poll().finally(() => (this.#polling = undefined));
    await this.#polling;
  }

  /** Sends what has not been sent, and waits for it. */
  async close(): Promise<void> {
    await Promise.all([this.#registering, this.#polling, this.#sender.recorded]);
    await this.#sender.attempt(() => this.#moveOn());
  }

  #add(job: Job, declaration: Partial<JobDeclaration>): boolean {
    const { schedules = [], intervalMs } = declaration;
    const isScheduled = schedules.length > 0 || intervalMs !== undefined;
    if (job.policy === undefined && !job.history && !isScheduled) return false;
    const name = registeredName(job);
    const earlier = this.#entries.get(name);
    const entry = newEntry(job, declaration);
    if (earlier === undefined) this.#entries.set(name, entry);
    // Jobs that share a lock are one job of the register.
    else if (job.policy === undefined && earlier.job.policy === undefined)
      this.#entries.set(name, mergedEntry(earlier, entry));
    return true;
  }

  async #registerRequested(): Promise<void> {
    // Jobs that are added one after the other are registered with one statement.
    await Promise.resolve();
    while (this.#isRequested) {
      this.#isRequested = false;
      await this.#sender.attempt(() => this.#registerPending());
    }
  }

  async #registerPending(): Promise<void> {
    const { store, clock } = this.context;
    const now = new Date(clock.wallMs());
    const pending = [...this.#entries].flatMap(([job, entry]) => {
      const nextScheduledAt = entry.next ?? entry.nextAfter(now);
      if (!entry.isPending && nextScheduledAt?.getTime() === entry.next?.getTime()) return [];
      const { declared } = entry;
      return {
        entry,
        registration: { job, declared, nextScheduledAt, version: VERSION, registeredBy: INSTANCE },
      };
    });
    if (pending.length === 0) return;
    const before = await store.jobs(limitOf(this.context));
    const registrations = pending.map(({ registration }) => registration);
    await this.#sender.send(() => store.registerJobs(registrations, limitOf(this.context)));
    for (const { entry, registration } of pending) {
      const stored = before.jobs.find(({ job }) => job === registration.job);
      entry.isPending = false;
      entry.next = nextAfterRegistration(stored, registration, before.now);
      if (stored !== undefined) this.#warnOfDifference(stored, registration);
    }
  }

  /** Two deployments that declare a job differently may start it at different times, or lock it differently. */
  #warnOfDifference({ declared: there, ...stored }: RegisteredJob, { job, declared }: JobRegistration): void {
    const differences = describeDifferences(there, declared);
    if (differences === '' || stored.registeredBy === INSTANCE) return;
    const message = `Job '${job}' is declared differently than by ${stored.registeredBy}, which registered it at ${stored.registeredAt.toISOString()}: ${differences}. If that instance is still running, deploy the same version to both.`;
    this.context.events.emit('guard:warning', { message });
  }

  #onTick(name: string, scheduledAt: Date | undefined, { outcome, reason }: TickEnd): void {
    if (outcome === 'lock-failed' || NO_ANSWER.has(reason) || scheduledAt === undefined) return;
    const entry = this.#entries.get(name);
    if (entry && (entry.answeredAt ?? scheduledAt) <= scheduledAt) entry.answeredAt = scheduledAt;
  }

  /** Also a run without a tick: a retry, or a missed period. */
  #onRunStarted({ run }: CronlatchEvents['run:started']): void {
    if (run === undefined) return;
    const entry = this.#entries.get(run.job);
    if (entry?.next === undefined || entry.next.getTime() > this.context.clock.wallMs()) return;
    if (run.periodKey === periodKeyAt(entry, entry.next)) this.#onTick(run.job, entry.next, ANSWERED);
  }

  async #poll(): Promise<void> {
    this.register();
    await this.#registering;
    await this.#sender.attempt(async () => {
      await this.#reportOverdue();
      await this.#moveOn();
    });
  }

  async #moveOn(): Promise<void> {
    const { store } = this.context;
    const answered = [...this.#entries].flatMap(([job, entry]) => {
      const { answeredAt } = entry;
      if (answeredAt === undefined || !isAnswered(entry)) return [];
      return { entry, change: { job, answeredAt, nextScheduledAt: entry.nextAfter(answeredAt) } };
    });
    if (answered.length === 0) return;
    const changes = answered.map(({ change }) => change);
    await this.#sender.send(() => store.updateJobs(changes, limitOf(this.context)));
    for (const { entry, change } of answered) entry.next = change.nextScheduledAt;
  }

  /** Another instance may have answered a tick that this one has not, so the register and the ledger decide. */
  async #reportOverdue(): Promise<void> {
    const { store, clock, overdueAfterMs, events } = this.context;
    const waitsSince = clock.wallMs() - overdueAfterMs / 2;
    const waiting = [...this.#entries].filter(
      ([, entry]) => isAnswerKept(entry.declared) && isWaiting(entry) && Number(entry.next) < waitsSince,
    );
    if (waiting.length === 0) return;
    const register = await store.jobs(limitOf(this.context));
    const overdue = findOverdueJobs(register, overdueAfterMs);
    for (const [job, entry] of waiting) {
      const stored = register.jobs.find((each) => each.job === job);
      // An operator may have deleted its row.
      if (stored === undefined) entry.isPending = true;
      entry.next = stored?.nextScheduledAt;
      if (await this.#hasRun(entry, stored)) this.#onTick(job, entry.next, ANSWERED);
      const found = overdue.find((each) => each.job === job);
      if (found === undefined || !isWaiting(entry)) continue;
      entry.reportedAt = found.scheduledAt;
      events.emit('run:overdue', { name: entry.declared.lock, job, scheduledAt: found.scheduledAt });
    }
  }

  /** Its instance may have crashed before it could move the scheduled time on. */
  async #hasRun(entry: RegisterEntry, stored: RegisteredJob | undefined): Promise<boolean> {
    const { next, job } = entry;
    if (next === undefined || stored === undefined) return false;
    if (job.policy === undefined) return stored.lastStartedAt !== undefined && stored.lastStartedAt >= next;
    const { store } = this.context;
    const periodKey = periodKeyAt(entry, next);
    if (periodKey === undefined) return false;
    const query = { job: stored.job, periodKey, order: 'newest-first', limit: 1 } as const;
    return (await store.find(query, limitOf(this.context))).length > 0;
  }
}
