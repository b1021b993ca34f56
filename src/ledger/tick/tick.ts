import type { HeldLock, LockedTask, RunIdentity, TaskResult } from '../../core';
import type { CallReport } from '../../core/execution/event-hub';
import type { CompiledLock } from '../../core/lock-configuration';
import type { Period } from '../periods/period';
import { identityOf, type RunKey } from '../run';
import type { LedgerSnapshot, PeriodRequest } from './ledger-snapshot';
import type { TickPlan } from './plan-tick';

export interface TickRequest<T> extends PeriodRequest {
  readonly lock: CompiledLock;
  readonly task: LockedTask<T>;
  /** Returns the task of a run that is not the tick's own. */
  readonly taskOf: (run: RunKey) => LockedTask<unknown>;
  /** Called for a tick that is not part of a run. Returns a result if the tick is skipped without a look at the ledger. */
  readonly skip?: (() => TaskResult<never> | undefined) | undefined;
  /** Whether the guard retries the tick if no run of its period is recorded. */
  readonly willRetry: boolean;
}

/** A call of a once-per job on its way through the ledger: its request, and the progress so far. */
export class Tick<T> {
  /** The tick's own period has a row. */
  isRecorded = false;
  /** The tick is not retried, because its period has ended or cannot be determined. */
  isFinal = false;
  /** The database's current period, if nothing before it is left to catch up with. */
  caughtUpPeriod: string | undefined;
  started = 0;
  /** The number of runs that should have been started. */
  overdue = 0;
  /** Set before the lock is requested, like the plan. */
  snapshot!: LedgerSnapshot;
  plan!: TickPlan;
  held!: HeldLock;

  constructor(
    readonly request: TickRequest<T>,
    readonly report: CallReport,
  ) {}

  runOf({ key: periodKey }: Period): RunIdentity {
    const { policy, scope } = this.request;
    const recorded = this.snapshot.recorded.runs.find((run) => run.periodKey === periodKey);
    if (recorded !== undefined) return identityOf(recorded);
    return { job: policy.job, scope, periodKey, generation: 0, attempt: 0 };
  }
}
