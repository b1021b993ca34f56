import type { TickEvent } from '../../core';
import type { DeclaredJob } from '../../ledger';
import { NEVER, scheduleOf } from '../../ledger/expected';
import { intervalOf } from '../../ledger/periods/schedule';
import { calendarPeriodsOf } from '../../ledger/policy/job-policy';
import type { AdmittedJob } from '../jobs/job';

/** A job of this guard, and what the register knows of it. */
export class RegisterEntry {
  /** The register does not have this declaration yet. */
  isPending = true;
  answeredAt: Date | undefined;
  sentAt: Date | undefined;
  /** The newest time that may be late. */
  #dueAt = NEVER;
  #settledAt = NEVER;

  constructor(
    readonly job: AdmittedJob,
    readonly declared: DeclaredJob,
  ) {}

  answer(scheduledAt: Date): void {
    if ((this.answeredAt ?? scheduledAt) <= scheduledAt) this.answeredAt = scheduledAt;
  }

  /** Whether a time before this one may be late. */
  isDue(before: Date): boolean {
    const { declared, job, answeredAt = new Date(0) } = this;
    const { declaredAt } = job.expectation;
    if (this.isPending || declared.disabled || declaredAt === undefined) return false;
    const everyMs = intervalOf(declared.schedules);
    const since = answeredAt > declaredAt ? answeredAt : declaredAt;
    const due =
      everyMs === undefined ? scheduleOf(declared)?.newest(before) : new Date(since.getTime() + everyMs);
    this.#dueAt = due ?? NEVER;
    const dueMs = this.#dueAt.getTime();
    return dueMs <= before.getTime() && dueMs > since.getTime() && dueMs !== this.#settledAt.getTime();
  }

  /** The register and the ledger have shown whether it is late, if it was due before by the database's clock, too. */
  settle(before: Date): void {
    if (this.#dueAt <= before) this.#settledAt = this.#dueAt;
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

/** Another instance may still answer a tick that this one has skipped for such a reason. */
const NO_ANSWER: ReadonlySet<string | undefined> = new Set(['disabled', 'closing']);
/** A once-per job may have no run of its period then. */
const NO_RUN: ReadonlySet<string | undefined> = new Set(['locked', 'running-here', 'calendar']);

/** Whether a tick shows that its scheduled time needs no further answer. */
export function isAnswer({ outcome, reason }: TickEvent, { job }: RegisterEntry): boolean {
  if (outcome === 'lock-failed' || NO_ANSWER.has(reason)) return false;
  const periods = job.policy && calendarPeriodsOf(job.policy);
  return periods === undefined || !NO_RUN.has(reason);
}
