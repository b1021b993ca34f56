/**
 * The run ledger: once per business day, and what happens otherwise.
 *
 * A lock guarantees one run at a time. It cannot say whether today's run has *happened*. The ledger keeps one row for
 * each job, scope and period, and answers one question: may this holder of the lock start this job for this period
 * now, and as which attempt?
 *
 * - **Which period** an instant belongs to is arithmetic: `periods/`.
 * - **The policy** is what a job's options mean, checked once: `policy/`.
 * - **One flow** for every call: peek, lock, claim, run, record: `tick/`.
 * - **An operator** can list, explain, rerun, resolve, skip, backfill and purge runs: `operator/`.
 * - **Slots** are the runs of schedulers that elect one instance per scheduled time: `slots/`.
 * - **A row** is pending, running, completed, failed, interrupted or skipped. `run-state.ts` lists every change between
 *   these states, who makes it, and its conditions. Only an operator's `force` leaves `completed`.
 * - **A crashed holder** is one whose lock another process holds by a later grant. Under another lock, only the end of
 *   the recorded lease shows it. While leases hold, the lock keeps two attempts apart. If a lease fails, the row does:
 *   an attempt that has lost its row completes nothing.
 *
 * Decisions are pure functions that return a plan. The code with timers and statements carries it out. The host's clock
 * decides nothing but how far it differs from the database's. A calendar that fails decides nothing: it is asked again.
 *
 * A store joins by a `RunStore`, each of whose methods is one atomic step.
 *
 * Not promised: that effects outside the transaction of a run's completion happen once; that a custom key has an order,
 * a start or an end, so options that need one are refused for it; nor that two instances whose Node has different
 * versions of the time zone database agree on the days that a government has since changed.
 */
export type { BackfillRange, BackfillResult } from './operator/backfill';
export type { BusinessDateOptions } from './periods/business-date';
export { businessDateAt, startOfBusinessDate } from './periods/business-date';
export type { BusinessCalendar } from './periods/calendar';
export { everyDay, weekdays, withHolidays, withWorkingDays } from './periods/calendar';
export type { CatchUp, CatchUpOptions } from './policy/catch-up';
export type { Explanation } from './operator/explain';
export type { OperatorAct } from './operator/decide-act';
export type {
  CalendarPeriod,
  CalendarPeriodOptions,
  Period,
  PeriodKeyFunction,
  PeriodKind,
  PeriodOptions,
} from './periods/period';
export { nextPeriod, periodAt, periodsBetween, previousPeriod } from './periods/period';
export type { OncePerConfiguration, OncePerOptions } from './policy/once-per';
export type { RetryOptions } from './policy/retry';
export type { Claim, Run, RunEvent, RunEventKind, RunKey, RunPeriod, RunSummary } from './run';
export type { CurrentRun } from './tick/run-context';
export { currentRun } from './tick/run-context';
export { RunLedger } from './operator/run-ledger';
export type { RunName } from './run-name';
export type { RunState } from './run-state';
export type {
  Decision,
  FoundRun,
  NewRun,
  NewRunEvent,
  OverdueScope,
  Peek,
  PeekRequest,
  PurgeRequest,
  PurgeStep,
  RunQuery,
  RunStore,
} from './run-store';
