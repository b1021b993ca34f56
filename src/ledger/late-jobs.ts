import type { DeclaredJob, JobRegister, RegisteredJob } from './job-register';

/** A registered job whose scheduled time has passed, and no instance has answered its tick. */
export interface LateJob extends RegisteredJob {
  /** The scheduled time that has passed. */
  readonly scheduledAt: Date;
}

/** Whether `ledger.late` knows if a job of this kind has run: it keeps its runs, or at least the last one. */
export function isAnswerKept({ kind, history }: DeclaredJob): boolean {
  return kind !== 'lock' || history;
}

/**
 * The jobs whose scheduled time passed longer ago than the tolerance. The one that has waited longest comes first.
 */
export function findLateJobs({ now, jobs }: JobRegister, toleranceMs: number): LateJob[] {
  return jobs
    .filter(({ declared }) => isAnswerKept(declared) && declared.enabled !== false)
    .flatMap((job) => {
      const { nextScheduledAt: scheduledAt, lastStartedAt } = job;
      if (scheduledAt === undefined || now.getTime() - scheduledAt.getTime() <= toleranceMs) return [];
      // The instance that ran it may have crashed before it could move the scheduled time on.
      return lastStartedAt !== undefined && lastStartedAt >= scheduledAt ? [] : { ...job, scheduledAt };
    })
    .sort((a, b) => a.scheduledAt.getTime() - b.scheduledAt.getTime());
}
