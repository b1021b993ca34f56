import type { TickEvent } from '../../core';
import type { DeclaredJob } from '../../ledger';
import { scheduleOf } from '../../ledger/expected';
import { intervalOf } from '../../ledger/periods/schedule';
import { calendarPeriodsOf } from '../../ledger/policy/job-policy';
import type { AdmittedJob } from '../jobs/job';

/** A job of this guard, and what the register knows of it. */
export class RegisterEntry {
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

  answer(scheduledAt: Date): void {
    if ((this.answeredAt ?? scheduledAt) <= scheduledAt) this.answeredAt = scheduledAt;
  }

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
export function isAnswer({ outcome, reason }: TickEvent, { job }: RegisterEntry): boolean {
  // Another instance may still answer a tick that this one has skipped.
  if (outcome === 'lock-failed' || reason === 'disabled' || reason === 'closing') return false;
  // A once-per job may have no run of its period then.
  const mayLackRun = reason === 'locked' || reason === 'running-here' || reason === 'calendar';
  return !mayLackRun || job.policy === undefined || calendarPeriodsOf(job.policy) === undefined;
}
