import type { DeclaredJob } from '../../ledger';
import { periodAt } from '../../ledger/periods/period';
import { declaredJobOf } from './declared-job';
import type { Job, JobDeclaration } from './job';

/** A job of this guard that is registered. */
export interface RegisterEntry {
  readonly job: Job;
  readonly declared: DeclaredJob;
  readonly nextAfter: (after: Date) => Date | undefined;
  /** The register does not have this declaration yet. */
  isPending: boolean;
  /** The next scheduled time in the register, as far as it is known here. */
  next: Date | undefined;
  /** The scheduled time of the latest tick that was answered here. */
  answeredAt: Date | undefined;
  reportedAt: Date | undefined;
}

export function newEntry(job: Job, declaration: Partial<JobDeclaration>): RegisterEntry {
  const { nextAfter = () => undefined } = declaration;
  return {
    ...{ job, declared: declaredJobOf(job, declaration), nextAfter, isPending: true },
    ...{ next: undefined, answeredAt: undefined, reportedAt: undefined },
  };
}

export function mergedEntry(earlier: RegisterEntry, added: RegisterEntry): RegisterEntry {
  const schedules = [...earlier.declared.schedules, ...added.declared.schedules];
  return {
    ...earlier,
    ...{ declared: { ...earlier.declared, schedules }, isPending: true, next: undefined },
    nextAfter: (after) => {
      const times = [earlier.nextAfter(after), added.nextAfter(after)].filter((time) => time !== undefined);
      return times.sort((a, b) => a.getTime() - b.getTime())[0];
    },
  };
}

export function isAnswered({ isPending, next, answeredAt }: RegisterEntry): boolean {
  return !isPending && next !== undefined && answeredAt !== undefined && next <= answeredAt;
}

/** Whether this instance has not answered its next scheduled time, and has not reported it either. */
export function isWaiting(entry: RegisterEntry): boolean {
  const { next, reportedAt } = entry;
  return next !== undefined && !isAnswered(entry) && next.getTime() !== reportedAt?.getTime();
}

/** `undefined` if the job has no periods, or its key function fails. */
export function periodKeyAt({ job }: RegisterEntry, instant: Date): string | undefined {
  try {
    return job.policy && periodAt(instant, job.policy.period).key;
  } catch {
    return undefined; // Its ticks report the failure.
  }
}
