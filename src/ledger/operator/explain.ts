import { readSnapshot, type LedgerSnapshot } from '../tick/ledger-snapshot';
import type { JobPolicy } from '../policy/job-policy';
import type { LedgerContext } from '../store-statements';
import { hasWork, planTick, type TickPlan } from '../tick/plan-tick';
import type { RunSummary } from '../run';

/** What would become of a tick, and why. */
export interface Explanation {
  readonly periodKey: string;
  readonly businessDate: string;
  /** `'run'`, or why the period would have no run. */
  readonly decision: string;
  /** In sentences, for a person. */
  readonly text: string;
}

/** Nothing is written, and no lock is taken. */
export async function explain(
  context: LedgerContext,
  policy: JobPolicy,
  { scope, at }: { readonly scope: string; readonly at: Date | undefined },
): Promise<Explanation> {
  const request = { policy, scope, scheduledAt: at };
  const snapshot = await readSnapshot(context, request);
  const idle = (): undefined => undefined;
  const plan = await planTick(
    context,
    {
      ...request,
      lock: { name: policy.job },
      task: idle,
      resumed: () => idle,
      purpose: 'tick',
      willRetry: false,
    },
    snapshot,
  );
  const { period } = snapshot;
  const decision = decisionOf(plan);
  const text = [
    `A tick of job '${policy.job}'${scope === '' ? '' : ` (${scope})`} at ${(at ?? snapshot.now).toISOString()} counts for ${period.key}${extent(snapshot)}.`,
    snapshot.run === undefined ? 'There is no run of it.' : describeRow(snapshot.run),
    decision === 'run' ? 'It would ask for the lock and run it.' : `It would not run it: ${decision}.`,
    ...whatElse(plan),
    hasWork(plan) ? '' : 'The lock would not be asked for.',
  ];
  const { key: periodKey, businessDate } = period;
  return { periodKey, businessDate, decision, text: text.filter((each) => each !== '').join(' ') };
}

function decisionOf({ own }: TickPlan): string {
  switch (own.kind) {
    case 'run':
      return 'run';
    case 'skip':
    case 'refused':
      return own.reason;
    case 'over':
    case 'not-asked':
      return 'not-due';
  }
}

function extent({ period: { start, end } }: LedgerSnapshot): string {
  return start && end ? `, the time from ${start.toISOString()} until ${end.toISOString()}` : '';
}

function describeRow({ state, attempt, generation, reason, nextAttemptAt, finishedAt }: RunSummary): string {
  const parts = [
    `Its run is ${state}${reason === undefined ? '' : ` (${reason})`}`,
    generation > 0 ? `generation ${generation}` : '',
    attempt > 0 ? `attempt ${attempt}` : 'not begun',
    finishedAt === undefined ? '' : `ended at ${finishedAt.toISOString()}`,
    nextAttemptAt === undefined ? '' : `due at ${nextAttemptAt.toISOString()}`,
  ];
  return `${parts.filter((part) => part !== '').join(', ')}.`;
}

function whatElse({ overdue, catchUp, missed, failures }: TickPlan): string[] {
  const keys = (periods: readonly { key: string }[]): string => periods.map(({ key }) => key).join(', ');
  return [
    overdue.length === 0
      ? ''
      : `Also due, or left behind: ${overdue.map(({ periodKey }) => periodKey).join(', ')}.`,
    catchUp.length === 0 ? '' : `To be caught up with: ${keys(catchUp)}.`,
    missed.length === 0 ? '' : `To be recorded as missed: ${keys(missed)}.`,
    ...failures.map(({ failed }) => `Not decided: ${failed}.`),
  ];
}
