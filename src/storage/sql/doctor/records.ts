import type { LockState } from '../../../core';
import { isHoldOwner } from '../../../core/lease/owner';
import type { RunSummary } from '../../../ledger';
import { differencesOf, type JobRegister } from '../../../ledger/job-register';
import { describeRun } from '../../../ledger/run';
import { firstOfEach, found, type Finding } from './finding';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

/** What is known besides the records. */
export interface Known {
  /** By the database's clock. */
  readonly now: Date;
  /** `undefined` if there is no register of jobs. */
  readonly register: JobRegister | undefined;
}

/** cronlatch writes host, process and a UUID. ShedLock for Java writes the name of the host. */
const OWNER = /^(.+\/\d+\/[\da-f]{8}-[\da-f-]{27}(\/.*)?|[\w.-]+)$/;

export function judgeLocks(locks: readonly LockState[], { now, register }: Known): Finding[] {
  const longestMs = (name: string): number => {
    const declared = register?.jobs.filter((job) => job.declared.lock === name) ?? [];
    return Math.max(DAY_MS, ...declared.map((job) => job.declared.lockAtMostForMs));
  };
  const judge = ({ name, lockedBy, lockUntil }: LockState): Finding | undefined => {
    const state = `Lock '${name}' is held by '${lockedBy}' until ${lockUntil.toISOString()}`;
    if (isHoldOwner(lockedBy)) return found('held-by-operator', `${state}.`);
    if (!OWNER.test(lockedBy))
      return found('unknown-owner', `${state}. Such an owner is not of cronlatch or ShedLock.`);
    const isLong = lockUntil.getTime() - now.getTime() > longestMs(name);
    return isLong ? found('long-lock', `${state}. Until then its job does not run.`) : undefined;
  };
  return firstOfEach(locks.filter(({ isHeld }) => isHeld).map(judge));
}

/** @param runs the newest run of each job, and all that are running or interrupted */
export function judgeRuns(runs: readonly RunSummary[], { now, register }: Known): Finding[] {
  const sinceMs = (instant = now): number => now.getTime() - instant.getTime();
  const isRegistered = (job: string): boolean => register?.jobs.some((each) => each.job === job) ?? true;
  const judge = (run: RunSummary): Finding | undefined => {
    const subject = describeRun(run).replace('t', 'T');
    if (run.state === 'interrupted') return found('interrupted-run', `${subject} waits for an operator.`);
    if (run.state === 'running' && sinceMs(run.leaseUntil) > 15 * MINUTE_MS) {
      const why = isRegistered(run.job) ? '' : ', because none has registered the job';
      return found('stuck-run', `${subject} has a crashed holder, and no instance retries it${why}.`);
    }
    const isFinal = run.state === 'failed' && run.nextAttemptAt === undefined;
    if (!isFinal || sinceMs(run.finishedAt) > 7 * DAY_MS) return undefined;
    return found('failed-run', `${subject} has failed permanently.`);
  };
  return firstOfEach(runs.map(judge));
}

/** Where instances disagree about jobs. */
export function judgeRegister({ now, jobs }: JobRegister, version: string): Finding[] {
  const differing = jobs.map((job): Finding | undefined => {
    const { declared, previous } = job;
    if (previous === undefined || now.getTime() - previous.registeredAt.getTime() > 7 * DAY_MS)
      return undefined;
    const options = differencesOf(previous.declared, declared).map(({ option }) => option);
    const [one, other] = [previous, job].map(
      (by) => `${by.registeredBy} at ${by.registeredAt.toISOString()}`,
    );
    const problem = `Two deployments declare job '${job.job}' with different ${options.join(', ')}: ${one} and ${other}.`;
    return found('deployments-differ', problem);
  });
  const shared = [...new Set(jobs.map(({ declared }) => declared.lock))].map((lock) => {
    const names = jobs.filter(({ declared }) => declared.lock === lock).map(({ job }) => `'${job}'`);
    const problem = `Lock '${lock}' is that of several jobs, so none runs while another one does: ${names.join(', ')}.`;
    return names.length > 1 ? found('shared-lock', problem) : undefined;
  });
  const others = [...new Set(jobs.map((job) => job.version))].filter((each) => each !== version).join(', ');
  const problem = `Jobs are registered by cronlatch ${others}, and this command is ${version}.`;
  return firstOfEach([
    ...differing,
    ...shared,
    others === '' ? undefined : found('versions-differ', problem),
  ]);
}
