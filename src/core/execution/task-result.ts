export type TaskResult<T> =
  { readonly executed: true; readonly value: T } | { readonly executed: false; readonly reason: SkipReason };

/**
 * Why a task did not run:
 *
 * - `locked`: another holder has the lock.
 * - `running-here`: this process still runs the job, or does not know yet that it has ended.
 * - `closing`: the guard is closing.
 * - `disabled`: `enabled` of the job, or of the guard, is `false`.
 *
 * Only for a job that runs once per period:
 *
 * - `already-completed`: its run of this period has completed.
 * - `running-elsewhere`: another instance runs it, or may still run it.
 * - `not-due`: no attempt is due now: a failed run is retried later, or a later tick of its period comes on a business day.
 * - `exhausted`: it has failed permanently.
 * - `interrupted`: its lease ended, its holder has not come back, and an operator must resolve the run.
 * - `skipped`: the period is recorded as having no run.
 * - `calendar`: the date is not a business day, or the calendar failed and cronlatch will ask it again.
 * - `deadline`: it is too late for a first attempt.
 */
export type SkipReason =
  | 'locked'
  | 'running-here'
  | 'closing'
  | 'disabled'
  | 'already-completed'
  | 'running-elsewhere'
  | 'not-due'
  | 'exhausted'
  | 'interrupted'
  | 'skipped'
  | 'calendar'
  | 'deadline';
