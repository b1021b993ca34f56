import { readLockId } from '../run';
import { mayBeMadeUp, NEVER, type Expectation, type PeriodicJob } from '../expected';
import { readSnapshot, type LedgerSnapshot } from '../tick/ledger-snapshot';
import type { LedgerContext } from '../store-statements';
import { hasWork, planTick, type TickPlan } from '../tick/plan-tick';
import { commandText } from './remedy';
import { stateOfRun, timeText } from './state-of-run';

export interface ExplainOptions {
  readonly at?: Date | undefined;
  readonly scope?: string | undefined;
  /** Of the times in the text. Default: that of the job's periods */
  readonly timeZone?: string | undefined;
}

/** What a tick would do, and why. */
export interface Explanation {
  readonly periodKey: string;
  readonly businessDate: string;
  /** `'run'`, or why the period would not be run. */
  readonly decision: string;
  readonly text: string;
}

/** Explains a tick. Writes nothing and takes no lock. */
export async function explain(
  context: LedgerContext,
  job: PeriodicJob,
  { scope, at, lock, timeZone }: ExplainOptions & { readonly scope: string; readonly lock: string },
): Promise<Explanation> {
  const { policy } = job;
  const request = { ...job, scope, purpose: 'tick', scheduledAt: at } as const;
  const snapshot = await readSnapshot(context, request);
  const plan = await planTick(context, request, snapshot);
  const { period, run } = snapshot;
  const { key: periodKey, businessDate, start, end } = period;
  const inZone = (instant: Date | undefined): string => timeText(instant, timeZone ?? policy.period.timeZone);
  const extent = start && end ? `, the time from ${inZone(start)} until ${inZone(end)}` : '';
  const elsewhere = await describeElsewhere(context, snapshot, lock);
  const decision = elsewhere === undefined ? decisionOf(plan) : 'running-elsewhere';
  const text = [
    at === undefined ? '' : describeDue(job.expectation, at, inZone),
    `A tick of job '${policy.job}'${scope === '' ? '' : ` (${scope})`} at ${inZone(at ?? snapshot.now)} counts for ${period.key}${extent}.`,
    run === undefined
      ? 'This period has no run yet.'
      : `Its run ${stateOfRun(run, { now: snapshot.now, when: (instant) => `at ${inZone(instant)}` }).sentence}.`,
    decision === 'run'
      ? `The tick would request the lock and run it${run?.state === 'running' ? ', if the lock is free' : ''}.`
      : `The tick would not run it: ${decision}.`,
    elsewhere ?? '',
    at !== undefined && plan.own.kind === 'run' && plan.own.isNew ? describeMissing(job, snapshot) : '',
    ...describeOthers(plan),
    hasWork(plan) ? '' : 'It would not request the lock.',
  ];
  return { periodKey, businessDate, decision, text: text.filter((each) => each !== '').join(' ') };
}

/** What should have happened at a time. */
function describeDue(
  { schedule, declaredAt }: Expectation,
  at: Date,
  inZone: (instant: Date) => string,
): string {
  if (schedule === undefined) return '';
  const [last, next] = [schedule.previous(at), schedule.next(at)];
  if (last?.getTime() !== at.getTime())
    return `Its schedule has no tick at ${inZone(at)}: the last one before it is ${last ? inZone(last) : 'none'}, and the next one ${next ? inZone(next) : 'none'}.`;
  const isNew = declaredAt !== undefined && declaredAt >= at && declaredAt < NEVER;
  return `Its schedule has a tick at ${inZone(at)}${isNew ? `, but only since ${inZone(declaredAt)}` : ''}.`;
}

/** What an instance does about a period without a run, after its tick. */
function describeMissing(job: PeriodicJob, { now, instant, period, recorded }: LedgerSnapshot): string {
  const newest = job.expectation.schedule?.previous(now);
  if (newest === undefined || instant > now) return '';
  const next = job.expectation.schedule?.next(now);
  if (next !== undefined && job.policy.periodAt(next).key === period.key) return '';
  if (job.policy.periodAt(newest).key !== period.key) return 'No tick is left for it.';
  return mayBeMadeUp(job, newest, recorded)
    ? 'An instance makes it up at its next check.'
    : 'No instance makes it up.';
}

/** What an operator can do about a run whose holder a free lock would not prove to be gone. `undefined` for any other. */
async function describeElsewhere(
  { lockProvider }: LedgerContext,
  { run, now }: LedgerSnapshot,
  lock: string,
): Promise<string | undefined> {
  if (run?.state !== 'running' || (run.leaseUntil ?? now) <= now) return undefined;
  const lockId = await readLockId(lockProvider, lock);
  if (lockId === undefined || run.lockId === lockId) return undefined;
  const { advice, remedy } = stateOfRun(run, { isLocked: false, lockId });
  return remedy ? `${advice} ${commandText(remedy)}` : `${advice}`;
}

function decisionOf({ own }: TickPlan): string {
  if (own.kind === 'run') return 'run';
  return 'reason' in own ? own.reason : 'not-due';
}

function describeOthers({ overdue, catchUp, missed, failures }: TickPlan): string[] {
  const listed = (what: string, periods: readonly { readonly key: string }[]): string =>
    periods.length === 0 ? '' : `${what}: ${periods.map(({ key }) => key).join(', ')}.`;
  const keys = overdue.map(({ periodKey: key }) => ({ key }));
  return [
    listed('Also due or running', keys),
    listed('To be caught up', catchUp),
    listed('To be recorded as missed', missed),
    ...failures.map(({ failed }) => `Not decided: ${failed}.`),
  ];
}
