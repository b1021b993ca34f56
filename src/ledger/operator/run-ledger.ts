/**
 * operator/: how operators inspect and change runs.
 *
 * Applications get a `RunLedger` as `guard.ledger`. It lists runs and gaps, and `explain.ts` describes what a tick
 * would do. `decide-act.ts` decides whether a run may be rerun, resolved or skipped. The run's history keeps every
 * such act with its actor and reason. `backfill.ts` finds the gaps and adds runs of past periods, and `purge-runs.ts` deletes old runs.
 */
import { InvalidLockUseError } from '../../core';
import { parsePositiveDuration, type Duration } from '../../core/duration';
import { IDLE_AFTER_MS, type RegisteredJob } from '../job-register';
import { limitOf, type LedgerContext } from '../store-statements';
import type { CalendarPeriod } from '../periods/period';
import { periodOfKey } from '../periods/period-of-key';
import { calendarPeriodsOf, fixedScopeOf } from '../policy/job-policy';
import { checkInstant, describeRun, newRunOf, type Run, type RunEvent, type RunKey } from '../run';
import type { StoredRequest } from '../request-store';
import type { RunLogEntry } from '../run-log-store';
import { runEventOf, type Decision, type FoundRun, type RunQuery } from '../run-store';
import {
  checkAct,
  decideRerun,
  decideResolve,
  decideSkip,
  type ActVerdict,
  type OperatorAct,
} from './decide-act';
import { findGaps } from './backfill';
import { explain, type ExplainOptions, type Explanation } from './explain';
import { LONGEST_KEPT_DAYS, purgeRuns } from './purge-runs';
import { requestIdOf, requestRun, requestsOf, type RunRequest } from './request-run';
import type { PeriodicJob } from '../expected';
import { checkedScope, checkJob, checkQuery, runKeyOf, type RunName } from './run-name';

export interface RunLedgerOptions {
  readonly context: LedgerContext;
  readonly jobOf: (job: string) => PeriodicJob | undefined;
  readonly lockOf: (job: string) => string | undefined;
  /** All jobs of this guard, with their longest catch-up window. */
  readonly jobs: { readonly longestWindowMs: number };
}

/** The default limit of a list. */
const LISTED = 100;

/** Inspects runs and changes them by hand. Every change is recorded with its actor and reason. */
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
   * Removes a job from the register, so that it is not late any more: a job that your code no longer has. Its runs and
   * its lock stay. An instance that still declares the job registers it again.
   *
   * @throws InvalidLockUseError if the job is not registered, or an instance has registered it within the last 15 minutes.
   * Instances do so every 2 minutes.
   */
  async forget(job: string): Promise<void> {
    const { context } = this.options;
    const { jobs, unreadable = [] } = await context.store.jobs(limitOf(context));
    const stored = [...jobs, ...unreadable].find((each) => each.job === job);
    if (stored && (await context.store.forgetJob(job, IDLE_AFTER_MS, limitOf(context)))) return;
    const why = stored
      ? `${stored.registeredBy} has registered it within the last 15 minutes. Remove the job there, and try again when all instances have stopped or restarted`
      : 'it is not registered';
    throw new InvalidLockUseError(`Cannot forget job '${job}': ${why}.`);
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

  /**
   * Reruns a run that failed permanently, was interrupted or was skipped. It becomes a new generation and is due at once.
   * With `force`, also a completed run and a running one: its holder can no longer complete it.
   *
   * @throws InvalidLockUseError if there is no such run, or its state does not allow it
   */
  async rerun(name: RunName, act: OperatorAct & { readonly force?: boolean | undefined }): Promise<Run> {
    return await this.#change(name, act, 'rerun', (found) => decideRerun(found, act));
  }

  /**
   * Asks an instance to run a job now. An instance starts it within `pollInterval`, by default a minute, if the lock,
   * `enabled` and the ledger allow that; if not, at a later check, until the request expires. It works for scheduled
   * jobs, and for once-per jobs. The handler gets no arguments. If that instance crashes, the
   * job's `onCrash` decides about the run of a once-per job. Any other run is not repeated.
   *
   * @throws InvalidLockUseError if no instance has declared the job within 3 minutes, for a period that has a run or has not
   * begun, and if an earlier request for this job and scope has not ended
   */
  async requestRun(job: string, request: RunRequest): Promise<StoredRequest> {
    return await requestRun(this.options.context, job, request);
  }

  /** The newest request to run this job, also if it has ended. One that has expired stays `open`. */
  async lastRequest(
    job: string,
    { scope = '' }: { readonly scope?: string | undefined } = {},
  ): Promise<StoredRequest | undefined> {
    checkJob(job);
    const { context } = this.options;
    const id = requestIdOf(job, checkedScope(scope));
    return await requestsOf(context).find(id, limitOf(context));
  }

  /**
   * Records the outcome of an interrupted run. `'pending'` means that its work is not done: the next attempt is due
   * at once, if the job has one left.
   *
   * @throws InvalidLockUseError if the run is not interrupted
   */
  async resolve(
    name: RunName,
    act: OperatorAct & { readonly as: 'completed' | 'failed' | 'pending' },
  ): Promise<Run> {
    return await this.#change(name, act, 'resolve', (found) => decideResolve(found, act));
  }

  /**
   * Skips a period, so that it has no run. The period has no row yet, or its run is pending, failed or interrupted.
   *
   * @throws InvalidLockUseError for a run in any other state
   */
  async skip(name: RunName, act: OperatorAct): Promise<void> {
    checkAct(act);
    const key = runKeyOf(name);
    const { context, jobOf } = this.options;
    const { policy } = jobOf(key.job) ?? {};
    const periods = policy && calendarPeriodsOf(policy);
    const period = periods && periodOfKey(key.periodKey, periods);
    checkInstant(period?.start, `The start of ${describeRun(key)}`);
    const run = newRunOf(key, { ...period, key: key.periodKey }, periods?.timeZone);
    const event = runEventOf({}, 'skipped', act.reason, act.actor);
    const skipped = { ...run, state: 'skipped', reason: 'operator', event } as const;
    const inserted = await context.store.insert(skipped, limitOf(context));
    if (!inserted) await this.#change(name, act, 'skip', (found) => decideSkip(found, act));
  }

  /**
   * Deletes runs that have ended, with their history. Only runs older than `olderThan` are deleted, and only those
   * outside the catch-up window of every registered job. The newest run of each job and scope stays, and so does
   * every run that has not ended or that another transaction has locked. A purged period never counts as missed
   * afterwards. It also deletes newer runs of ticks, beyond the newest 1,000 of their job and scope.
   *
   * The purge uses short transactions, so that jobs can run meanwhile. A million runs take minutes.
   *
   * @param request.olderThan up to 36,500 days
   * @returns how many runs were deleted
   * @throws LockStorageError if the store keeps failing; the runs deleted before then stay deleted
   */
  async purge({ olderThan }: { readonly olderThan: Duration }): Promise<number> {
    const { context, jobs } = this.options;
    const keptMs = parsePositiveDuration(olderThan, 'olderThan of purge', LONGEST_KEPT_DAYS);
    return await purgeRuns(context, Math.max(keptMs, jobs.longestWindowMs));
  }

  async #change(
    name: RunName,
    act: OperatorAct,
    verb: 'rerun' | 'resolve' | 'skip',
    decide: (found: FoundRun | undefined) => Decision<ActVerdict>,
  ): Promise<Run> {
    checkAct(act);
    const key = runKeyOf(name);
    const { context } = this.options;
    return changedRun(await context.store.change(key, decide, limitOf(context)), verb, key);
  }

  #jobOf(job: string): PeriodicJob {
    const known = this.options.jobOf(job);
    if (known !== undefined) return known;
    throw notRegisteredError(job);
  }
}

/** @throws InvalidLockUseError if the change was refused */
export function changedRun(verdict: ActVerdict, verb: string, key: RunKey): Run {
  if (verdict.kind === 'changed') return verdict.run;
  const why = verdict.from === 'absent' ? 'no such run exists' : `it is ${verdict.from}`;
  throw new InvalidLockUseError(`Cannot ${verb} ${describeRun(key)}: ${why}.${remedyOf(verdict, verb)}`);
}

function remedyOf({ from }: Extract<ActVerdict, { kind: 'refused' }>, verb: string): string {
  if (verb === 'resolve') return ' Only an interrupted run can be resolved.';
  if (verb === 'skip') return ' A run that is running, completed or skipped cannot be skipped.';
  if (from === 'absent') return ' To add runs of past days, call guard.backfill().';
  return from === 'completed' || from === 'running' ? ' To rerun it anyway, pass force: true.' : '';
}

/** For operations that need the start and end of a job's periods. */
export function notRegisteredError(job: string): InvalidLockUseError {
  return new InvalidLockUseError(
    `Job '${job}' is not registered with this guard, so its periods are unknown here. Pass its instance to scheduleJobs, or create the job with guard.wrap.`,
  );
}
