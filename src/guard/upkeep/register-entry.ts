import type { TickEvent } from '../../core';
import type { DeclaredJob } from '../../ledger';
import type { Job, JobDeclaration } from '../jobs/job';

/** A job of this guard, and what the register knows of it. */
export class RegisterEntry {
  /** The register does not have this declaration yet. */
  isPending = true;
  /** The next scheduled time in the register, as far as it is known here. */
  next: Date | undefined;
  answeredAt: Date | undefined;
  reportedAt: Date | undefined;

  constructor(
    readonly job: Job,
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
export function isAnswer({ outcome, reason }: TickEvent, { job }: RegisterEntry): boolean {
  if (outcome === 'lock-failed' || NO_ANSWER.has(reason)) return false;
  return job.policy === undefined || job.policy.period.kind === 'tick' || !NO_RUN.has(reason);
}
