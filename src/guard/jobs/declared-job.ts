import type { DeclaredJob } from '../../ledger';
import { differencesOf } from '../../ledger/job-register';
import { everyDay } from '../../ledger/periods/calendar';
import type { JobPolicy } from '../../ledger/policy/job-policy';
import type { Job, JobDeclaration } from './job';

/** The name under which a job is registered. */
export function registeredName({ policy, lock }: Job): string {
  return policy?.job ?? lock.name;
}

/** What the register shows of a job. Its keys always have the same order, because declarations are compared as JSON. */
export function declaredJobOf(
  job: Job,
  { schedules = [], isDistributed = false, configuration }: Partial<JobDeclaration>,
): DeclaredJob {
  const { lock, policy, history } = job;
  return {
    lock: lock.name,
    lockAtMostForMs: lock.lockAtMostForMs,
    lockAtLeastForMs: lock.lockAtLeastForMs,
    keepAlive: lock.renewEveryMs !== undefined,
    kind: isDistributed ? 'tick' : kindOf(policy),
    timeZone: policy?.period.timeZone,
    dayStart: policy?.period.dayStart,
    target: policy?.period.target,
    schedules: schedules.map(({ expression, timeZone }) => ({ expression, timeZone })),
    retry: policy?.retry,
    onCrash: policy?.onCrash,
    catchUp: policy?.catchUp,
    startDeadlineMs: policy?.startDeadlineMs,
    hasCalendar: policy !== undefined && policy.calendar !== everyDay,
    scope: typeof policy?.scope === 'string' && policy.scope !== '' ? policy.scope : undefined,
    hasScopeFunction: typeof policy?.scope === 'function',
    history,
    enabled: configuration?.enabled === false ? false : undefined,
  };
}

function kindOf(policy: JobPolicy | undefined): DeclaredJob['kind'] {
  if (policy === undefined) return 'lock';
  return typeof policy.period.kind === 'function' ? 'custom' : policy.period.kind;
}

/** The fields that differ, each with both values, for a message. */
export function describeDifferences(there: DeclaredJob, here: DeclaredJob): string {
  return differencesOf(there, here)
    .map(({ option, before = 'none', now = 'none' }) => `${option} (there ${before}, here ${now})`)
    .join(', ');
}
