/**
 * operator/: what an operator can see of runs, and change.
 *
 * `RunLedger` is what applications get as `guard.ledger`. It lists runs and gaps, and `explain.ts` describes what a tick
 * would do. `decide-act.ts` decides whether a run may be rerun, resolved or skipped, and every such act is kept in the
 * run's history with its actor and reason. `backfill.ts` adds runs of past periods, and `purge-runs.ts` deletes old runs.
 */
import { CalendarError, InvalidLockUseError } from '../../core';
import { parsePositiveDuration, type Duration } from '../../core/duration';
import { limitOf, type LedgerContext } from '../store-statements';
import { askCalendar } from '../periods/calendar';
import { periodAt, type CalendarPeriod } from '../periods/period';
import { periodOfKey } from '../periods/period-of-key';
import { unansweredPeriods } from '../policy/catch-up';
import { calendarPeriodsOf, type JobPolicy } from '../policy/job-policy';
import { describeRun, type Run, type RunEvent } from '../run';
import { checkJob, checkQuery, runKeyOf, checkedScope, type RunName } from '../run-name';
import type { Decision, FoundRun, RunQuery } from '../run-store';
import { findSkippedKeys } from '../tick/ledger-snapshot';
import {
  checkAct,
  decideRerun,
  decideResolve,
  decideSkip,
  type ActVerdict,
  type OperatorAct,
} from './decide-act';
import { explain, type Explanation } from './explain';
import { purgeRuns } from './purge-runs';

export interface RunLedgerOptions {
  readonly context: LedgerContext;
  /** What a job says of itself, where it is known here. */
  readonly policyOf: (job: string) => JobPolicy | undefined;
  /** How far back any of them catches up. */
  readonly longestWindowMs: () => number;
}

/** At most, where nothing else is said. */
const LISTED = 100;
/** How long runs may be kept at most: a century. */
const LONGEST_KEPT_DAYS = 36_500;

/** What is known of runs, and what a person may change of them. Every change is recorded, with who and why. */
export class RunLedger {
  constructor(private readonly options: RunLedgerOptions) {}

  /** @throws InvalidLockConfigurationError, as all others, for a name that lacks a part, or that no run can have */
  async get(name: RunName): Promise<Run | undefined> {
    const [run] = await this.list({ ...runKeyOf(name), limit: 1 });
    return run;
  }

  /**
   * The newest period first, 100 at most, unless told otherwise.
   *
   * @throws InvalidLockConfigurationError also for a condition that is `undefined`: leave it out for runs of every kind
   */
  async list(query: Partial<RunQuery> = {}): Promise<readonly Run[]> {
    checkQuery(query);
    const { context } = this.options;
    const { order = 'newest-first', limit = LISTED } = query;
    return await context.store.find({ ...query, order, limit }, limitOf(context));
  }

  /** The run of the newest period, whatever became of it. */
  async last(
    job: string,
    { scope = '' }: { readonly scope?: string | undefined } = {},
  ): Promise<Run | undefined> {
    checkJob(job);
    const [run] = await this.list({ job, scope: checkedScope(scope), limit: 1 });
    return run;
  }

  /** What the row does not keep: attempts that failed or were lost, and what was changed by hand. The oldest first. */
  async history(name: RunName): Promise<readonly RunEvent[]> {
    const { context } = this.options;
    return await context.store.events(runKeyOf(name), limitOf(context));
  }

  /**
   * The business days before the current period, and after the job's first one, that have no run. The earliest first.
   *
   * @param range.from how far back at the most; default: to the first recorded period
   * @throws InvalidLockUseError for a job that is not registered here, or that has a key function
   * @throws CalendarError if the job's calendar fails
   */
  async gaps(
    job: string,
    { scope = '', from }: { readonly scope?: string | undefined; readonly from?: Date | undefined } = {},
  ): Promise<readonly CalendarPeriod[]> {
    const { context } = this.options;
    checkedScope(scope);
    const policy = this.#policyOf(job);
    const periods = calendarPeriodsOf(policy);
    if (periods === undefined)
      throw new InvalidLockUseError(
        `Job '${job}' has periods of a key function: nobody knows which are missing.`,
      );
    const since = from && periodAt(from, periods).start;
    const request = { job, scope, periodKey: undefined, since: since ?? new Date(0) };
    const { now, runs, firstPeriodStart } = await context.store.peek(request, limitOf(context));
    const unanswered = unansweredPeriods(
      {
        now,
        current: periodAt(now, periods),
        firstRecordedStart: firstPeriodStart,
        recordedKeys: new Set(runs.map(({ periodKey }) => periodKey)),
      },
      { windowMs: from === undefined ? Infinity : now.getTime() - from.getTime() },
      periods,
    );
    const skipped = await findSkippedKeys(context, { job, scope });
    const gaps: CalendarPeriod[] = [];
    for (const period of unanswered.filter(({ key }) => !skipped.has(key))) {
      const answer = await askCalendar(policy.calendar, period.businessDate, context);
      if (answer === 'business-day') gaps.push(period);
      if (typeof answer === 'object')
        throw new CalendarError(`The gaps of job '${job}' are not known: ${answer.failed}.`, answer);
    }
    return gaps;
  }

  /**
   * Which period a tick would count for, what would become of it, and why. Nothing is written.
   *
   * @param when.at default: now, by the database
   * @throws InvalidLockUseError for a job that is not registered here
   */
  async explain(
    job: string,
    { at, scope = '' }: { readonly at?: Date | undefined; readonly scope?: string | undefined } = {},
  ): Promise<Explanation> {
    return await explain(this.options.context, this.#policyOf(job), { scope: checkedScope(scope), at });
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
   * Says what became of an interrupted run. `'pending'`: it has not been done; the next attempt is due at once, if the
   * job has one left.
   *
   * @throws InvalidLockUseError for one that is not interrupted
   */
  async resolve(
    name: RunName,
    act: OperatorAct & { readonly as: 'completed' | 'failed' | 'pending' },
  ): Promise<Run> {
    return await this.#change(name, act, 'resolve', (found) => decideResolve(found, act));
  }

  /**
   * A period that is to have no run: one without a row, or one that is pending, failed or interrupted.
   *
   * @throws InvalidLockUseError for any other
   */
  async skip(name: RunName, act: OperatorAct): Promise<void> {
    checkAct(act);
    const key = runKeyOf(name);
    const { context, policyOf } = this.options;
    const policy = policyOf(key.job);
    const periods = policy && calendarPeriodsOf(policy);
    const period = periods && periodOfKey(key.periodKey, periods);
    const inserted = await context.store.insert(
      {
        ...key,
        ...{ periodStart: period?.start, periodEnd: period?.end, timeZone: periods?.timeZone },
        ...{ state: 'skipped', reason: 'operator' },
        event: {
          ...{ generation: 0, attempt: 0, kind: 'skipped', fencingToken: undefined },
          ...{ actor: act.actor, detail: act.reason },
        },
      },
      limitOf(context),
    );
    if (!inserted) await this.#change(name, act, 'skip', (found) => decideSkip(found, act));
  }

  /**
   * Deletes runs that are over, with their history: older than that, and than any registered job catches up. The newest
   * run of each job and scope stays, and so does every run that is not over or that another transaction has locked. A
   * purged period never counts as missed afterwards.
   *
   * It deletes in short transactions, so that jobs run meanwhile: a million runs take minutes.
   *
   * @param request.olderThan up to 36,500 days
   * @returns how many were deleted
   * @throws LockStorageError when the store keeps failing: what was deleted until then stays deleted
   */
  async purge({ olderThan }: { readonly olderThan: Duration }): Promise<number> {
    const { context, longestWindowMs } = this.options;
    const keptMs = parsePositiveDuration(olderThan, 'olderThan of purge', LONGEST_KEPT_DAYS);
    const olderThanMs = Math.max(keptMs, longestWindowMs());
    return await purgeRuns(context, olderThanMs);
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
    const verdict = await context.store.change(key, decide, limitOf(context));
    if (verdict.kind === 'changed') return verdict.run;
    const why = verdict.from === 'absent' ? 'no such run exists' : `it is ${verdict.from}`;
    throw new InvalidLockUseError(`Cannot ${verb} ${describeRun(key)}: ${why}.${remedyOf(verdict, verb)}`);
  }

  #policyOf(job: string): JobPolicy {
    const policy = this.options.policyOf(job);
    if (policy !== undefined) return policy;
    throw notRegistered(job);
  }
}

function remedyOf({ from, isSlot }: Extract<ActVerdict, { kind: 'refused' }>, verb: string): string {
  if (isSlot) return ' It is a tick of a distributed task: no instance would run it again.';
  if (verb !== 'rerun') return '';
  if (from === 'absent') return ' To add runs of past days, call guard.backfill().';
  return from === 'completed' || from === 'running' ? ' To rerun it anyway, pass force: true.' : '';
}

/** For what needs to know when the periods of a job begin and end. */
export function notRegistered(job: string): InvalidLockUseError {
  return new InvalidLockUseError(
    `Job '${job}' is not registered with this guard, so its periods are not known here: give its instance to scheduleJobs, or make it by guard.wrap.`,
  );
}
