/**
 * operator/: what operators see of runs, and what an act of theirs decides.
 *
 * Applications get a `RunLedger` as `guard.ledger`. It lists runs and gaps, and `explain.ts` describes what a tick
 * would do. `decide-act.ts` decides whether a run may be rerun, resolved or skipped. `backfill.ts` finds the gaps and adds runs
 * of past periods, and `purge-runs.ts` deletes old runs.
 */
import { InvalidLockUseError } from '../../core';
import { refuseGone } from '../../core/options';
import type { RegisteredJob } from '../job-register';
import { limitOf, type LedgerContext } from '../store-statements';
import type { CalendarPeriod } from '../periods/period';
import { fixedScopeOf } from '../policy/job-policy';
import { checkInstant, type Run, type RunEvent } from '../run';
import type { RunLogEntry } from '../run-log-store';
import type { RunQuery } from '../run-store';
import { findGaps } from './backfill';
import { explain, type ExplainOptions, type Explanation } from './explain';
import type { PeriodicJob } from '../expected';
import { checkedScope, checkJob, checkQuery, runKeyOf, type RunName } from './run-name';

export interface RunLedgerOptions {
  readonly context: LedgerContext;
  readonly jobOf: (job: string) => PeriodicJob | undefined;
  readonly lockOf: (job: string) => string | undefined;
}

/** The default limit of a list. */
const LISTED = 100;

/** Shows runs. */
export class RunLedger {
  constructor(private readonly options: RunLedgerOptions) {}

  /** @throws InvalidLockConfigurationError, like all methods, if the name lacks a part or no run can have it */
  async get(name: RunName): Promise<Run | undefined> {
    const [run] = await this.list({ ...runKeyOf(name), limit: 1 });
    return run;
  }

  /**
   * Lists runs: by default 100 at most, the newest period first.
   *
   * @throws InvalidLockConfigurationError also for a condition that is `undefined`: leave it out to match every run
   */
  async list(query: Partial<RunQuery> = {}): Promise<readonly Run[]> {
    checkQuery(query);
    const { context } = this.options;
    const { order = 'newest-first', limit = LISTED } = query;
    return await context.store.find({ ...query, order, limit }, limitOf(context));
  }

  /** The run of the newest period, in any state. */
  async last(
    job: string,
    { scope = '' }: { readonly scope?: string | undefined } = {},
  ): Promise<Run | undefined> {
    checkJob(job);
    const [run] = await this.list({ job, scope: checkedScope(scope), limit: 1 });
    return run;
  }

  /** What the row does not keep: attempts that failed or were lost, and acts of operators. The oldest comes first, by their times. */
  async history(name: RunName): Promise<readonly RunEvent[]> {
    const { context } = this.options;
    return await context.store.events(runKeyOf(name), limitOf(context));
  }

  /**
   * What the attempts of a run have printed, as `keepLog` keeps it. The oldest entry comes first.
   *
   * @param options.after the id of an entry: only later ones
   * @throws InvalidLockUseError if the run store keeps no logs
   * @throws SchemaMismatchError if the table of logs is missing or cannot be used
   */
  async log(
    name: RunName,
    { after = 0 }: { readonly after?: number | undefined } = {},
  ): Promise<readonly RunLogEntry[]> {
    const { context } = this.options;
    const { logs } = context.store;
    if (logs === undefined)
      throw new InvalidLockUseError('The run store of this guard keeps no logs of runs.');
    const all: RunLogEntry[] = [];
    let page: readonly RunLogEntry[];
    do {
      page = await logs.read(runKeyOf(name), all.at(-1)?.id ?? after, limitOf(context));
      all.push(...page);
    } while (page.length > 0);
    return all;
  }

  /**
   * The gaps of a job: expected periods without a run, before the current one. They come after the first recorded period,
   * and after the job was declared as it is now. The earliest comes first.
   *
   * @param range.scope default: that of the job
   * @param range.from how far back to search; default: to the first recorded period
   * @throws InvalidLockUseError for a job that is not registered here, or that has a key function
   * @throws CalendarError if the job's calendar fails
   */
  async gaps(
    job: string,
    { scope, from }: { readonly scope?: string | undefined; readonly from?: Date | undefined } = {},
  ): Promise<readonly CalendarPeriod[]> {
    checkInstant(from, 'from of ledger.gaps');
    const known = this.#jobOf(job);
    const query = { scope: checkedScope(scope ?? fixedScopeOf(known.policy)), from };
    return await findGaps(this.options.context, known, query);
  }

  /**
   * Lists the registered jobs of all instances that share this ledger, also those that have never run.
   *
   * @throws SchemaMismatchError if the table of the register is missing or cannot be used
   */
  async jobs(): Promise<readonly RegisteredJob[]> {
    return (await this.options.context.store.jobs(limitOf(this.options.context))).jobs;
  }

  /**
   * Explains which period a tick would count for, what the tick would do, and why. Writes nothing.
   *
   * @param when.at the scheduled time of the tick; default: the database's current time
   * @param when.scope default: that of the job
   * @throws InvalidLockUseError for a job that is not registered here
   */
  async explain(job: string, { at, scope, timeZone }: ExplainOptions = {}): Promise<Explanation> {
    checkInstant(at, 'at of ledger.explain');
    const known = this.#jobOf(job);
    const { context, lockOf } = this.options;
    const tick = { scope: checkedScope(scope ?? fixedScopeOf(known.policy)), at, lock: lockOf(job) ?? job };
    return await explain(context, known, { ...tick, timeZone });
  }

  #jobOf(job: string): PeriodicJob {
    const known = this.options.jobOf(job);
    if (known !== undefined) return known;
    throw new InvalidLockUseError(
      `Job '${job}' is not registered with this guard, so its periods are unknown here. Pass its instance to scheduleJobs, or create the job with guard.wrap.`,
    );
  }
}

refuseGone(RunLedger, 'guard.ledger', {
  rerun: 'rerun',
  resolve: 'resolve',
  skip: 'skip',
  requestRun: 'run',
  lastRequest: 'acts',
  forget: 'forget',
  purge: 'purge',
});
