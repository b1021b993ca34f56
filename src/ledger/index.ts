/**
 * The run ledger: once per business day, and what happens otherwise.
 *
 * A lock guarantees one run at a time. It cannot say whether today's run has *happened*. The ledger keeps one row for
 * each job, scope and period, and answers one question: may this holder of the lock start this job for this period
 * now, and as which attempt?
 *
 * - **Which period** an instant belongs to is arithmetic, told by `Intl` alone. A business date begins at the earliest
 *   instant at which its zone's wall clock has reached the day start, and ends where the next one begins; so dates are
 *   total, monotone and gap-free, whatever the clock does: `business-date.ts`. All other periods are made of such
 *   dates, but the hour, which ends where the clock is changed: `period.ts`.
 * - **One flow** for every call: peek, lock, claim, run, record. A plain read tells the database's now, with it the
 *   period, and whether anything is left to do; most calls end there: `look.ts`, `plan-tick.ts`. Under the lock a run is
 *   claimed by its unique key, or by a change of its row: `claim-run.ts`, `decide-claim.ts`. What became of it is
 *   recorded before anybody hears of it: `run-attempt.ts`, `decide-outcome.ts`.
 * - **A row** is pending, running, completed, failed, interrupted or skipped. `run-state.ts` has every change that
 *   there is, who makes it and what must hold besides. A completed run is left by an operator's force alone.
 * - **A vanished holder** is one whose lock somebody else holds, by a later grant; under another lock only time tells.
 *   The lock keeps two attempts apart while leases hold; when they do not, the row does: an attempt that lost it
 *   completes nothing.
 * - **A failure** is tried again after a delay that grows, until attempts or time are spent or the job says that it
 *   is of no use: `plan-retry.ts`. A retry keeps its period, also after midnight.
 * - **A missed period** is one that was expected and that nobody has answered for. It can always be seen; whether it
 *   is run later, and how many are, the job says: `plan-catch-up.ts`.
 *
 * Decisions are pure functions that return a plan; whoever has timers and statements obeys them. The host's clock
 * decides nothing but how far it is off, and a calendar that fails decides nothing: it is asked again.
 *
 * A store joins by a `RunStore`, each of whose methods is one atomic step.
 *
 * What is not promised: that effects outside the transaction of a run's completion are made once; that a custom key has
 * an order, a start or an end, so nothing that needs one is offered for it; nor that two instances whose Node knows
 * different versions of the time zone database agree on the days that a government has since changed.
 */
export type { BackfillRange, BackfillResult } from './operator/backfill';
export type { BusinessDateOptions } from './periods/business-date';
export { businessDateAt, startOfBusinessDate } from './periods/business-date';
export type { BusinessCalendar } from './periods/calendar';
export { everyDay, weekdays, withHolidays, withWorkingDays } from './periods/calendar';
export type { CatchUp, CatchUpOptions } from './policy/catch-up';
export type { PeriodKeyFunction } from './periods/custom-key';
export type { Explanation } from './operator/explain';
export type { OperatorAct } from './operator/operator-act';
export type {
  CalendarPeriod,
  CalendarPeriodOptions,
  Period,
  PeriodKind,
  PeriodOptions,
} from './periods/period';
export { nextPeriod, periodAt, periodsBetween, previousPeriod } from './periods/period';
export type { OncePerConfiguration, OncePerOptions } from './policy/once-per';
export type { RetryOptions } from './policy/retry';
export type { Claim, Run, RunEvent, RunEventKind, RunKey, RunPeriod, RunSummary } from './run';
export type { CurrentRun } from './tick/run-context';
export { currentRun } from './tick/run-context';
export type { RunLedgerOptions } from './operator/run-ledger';
export { RunLedger } from './operator/run-ledger';
export type { RunName } from './run-name';
export type { RunState } from './run-state';
export type {
  Decision,
  FoundRun,
  NewRun,
  NewRunEvent,
  OwedScope,
  Peek,
  PeekRequest,
  PurgeRequest,
  PurgeStep,
  RunQuery,
  RunStore,
} from './run-store';
