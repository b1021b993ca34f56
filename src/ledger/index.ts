/**
 * ledger/: the run ledger, which runs a job once per period and handles failures, crashes and missed periods.
 *
 * A lock guarantees one run at a time. It does not show whether today's run has *happened*. The ledger keeps one row
 * for each job, scope and period, and answers one question: may this holder of the lock start this job for this
 * period now, and as which attempt?
 *
 * - **Which period** an instant belongs to is arithmetic: `periods/`.
 * - **The policy** is the meaning of a job's options, checked once: `policy/`.
 * - **One flow** serves every call: peek, lock, claim, run, record: `tick/`.
 * - **An operator** can list and explain runs, and change them: `operator/`.
 * - **A row** is pending, running, completed, failed, interrupted or skipped. `run-state.ts` lists every change
 *   between these states, with its actor and its conditions. Only an operator's `force` leaves `completed`.
 * - **A holder counts as crashed** if another process holds the same lock by a later grant. Under another lock, only
 *   the end of the recorded lease shows a crash. While leases hold, the lock keeps two attempts apart. If a lease
 *   fails, the row keeps them apart: an attempt that has lost its row completes nothing.
 *
 * Decisions are pure functions that return a plan. Other code sets the timers and sends the statements. All times are
 * the database's. The host's clock only shows how far it differs from the database's. A calendar that fails decides
 * nothing, and cronlatch asks it again later.
 *
 * A store plugs in as a `RunStore`, each of whose methods is one atomic step.
 *
 * Not promised:
 *
 * - that effects outside the transaction that completes a run happen only once;
 * - that a custom key has an order, a start or an end: options that need one are refused for a key function;
 * - that two instances agree on a day that a government has changed, if their versions of Node have different
 *   versions of the time zone database.
 */
export { businessDateAt, startOfBusinessDate, type BusinessDateOptions } from './periods/business-date';
export { everyDay, weekdays, withHolidays, withWorkingDays, type BusinessCalendar } from './periods/calendar';
export type { CatchUp, CatchUpOptions } from './policy/catch-up';
export type * from './job-register';
export type { Explanation } from './operator/explain';
export type { OperatorAct } from './operator/decide-act';
export type * from './periods/period';
export type { DeclaredCron, DeclaredSchedule } from './periods/schedule';
export { nextPeriod, periodAt, periodsBetween, previousPeriod } from './periods/period';
export type { OncePerConfiguration, OncePerOptions } from './policy/job-policy';
export type { RetryOptions } from './policy/retry';
export type * from './run';
export { currentRun, type CurrentRun } from './tick/run-context';
export type { RunLogOptions } from './tick/run-log';
export { RunLedger } from './operator/run-ledger';
export type { RunName } from './operator/run-name';
export type { RunState } from './run-state';
export type * from './act-store';
export type * from './run-log-store';
export type * from './run-store';
