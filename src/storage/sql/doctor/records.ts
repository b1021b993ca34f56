import type { LockState } from '../../../core';
import { describeAhead } from '../../../core/lease/lock-records';
import { isHoldOwner } from '../../../core/lease/hold-owner';
import type { RunSummary } from '../../../ledger';
import type { JobRegister, RegisteredJob } from '../../../ledger/job-register';
import { stateOfRun } from '../../../ledger/operator/state-of-run';
import { describeRun, isRunAhead } from '../../../ledger/run';
import { firstOfEach, finding, type Finding } from '../connections/finding';

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;

export interface Known {
  /** By the database's clock. */
  readonly now: Date;
  /** `undefined` if there is no register of jobs. */
  readonly register: JobRegister | undefined;
}

/** cronlatch writes host, process and a UUID. ShedLock for Java writes the name of the host. */
const OWNER = /^(.+\/\d+\/[\da-f]{8}-[\da-f-]{27}(\/.*)?|[\w.-]+)$/;

/** Whether an instant is later than a lease can end: after the longest `lockAtMostFor` of these jobs, or after a day. */
function isFarAhead(
  until: Date,
  { now, register }: Known,
  isMeant: (job: RegisteredJob) => boolean,
): boolean {
  const declared = register?.jobs.filter(isMeant).map((job) => job.declared.lockAtMostForMs) ?? [];
  return until.getTime() - now.getTime() > Math.max(DAY_MS, ...declared);
}

export function judgeLocks(locks: readonly LockState[], known: Known): Finding[] {
  const judge = (lock: LockState): Finding | undefined => {
    const [{ name, lockedBy, lockUntil }, ahead] = [lock, describeAhead(lock)];
    if (ahead !== undefined) return finding('clock-ahead', ahead);
    if (isHoldOwner(lockedBy)) return undefined;
    const state = `Lock '${name}' is held by '${lockedBy}' until ${lockUntil.toISOString()}`;
    if (!OWNER.test(lockedBy))
      return finding('unknown-owner', `${state}. Such an owner is not of cronlatch or ShedLock.`);
    const isLong = isFarAhead(lockUntil, known, ({ declared }) => declared.lock === name);
    return isLong ? finding('long-lock', `${state}. Until then its job does not run.`) : undefined;
  };
  return firstOfEach(locks.filter(({ isHeld }) => isHeld).map(judge));
}

/** @param runs at least all that are running. `status` reports runs that have failed or were interrupted. */
export function judgeRuns(runs: readonly RunSummary[], known: Known): Finding[] {
  const { now, register } = known;
  const judge = (run: RunSummary): Finding | undefined => {
    const { state, job, leaseUntil } = run;
    const subject = describeRun(run).replace('t', 'T');
    if (isRunAhead(run, now))
      return finding('clock-ahead', `${subject} ${stateOfRun(run, { now }).sentence}.`);
    if (state !== 'running' || leaseUntil === undefined) return undefined;
    if (isFarAhead(leaseUntil, known, (each) => each.job === job))
      return finding(
        'long-lease',
        `${subject} has a lease until ${leaseUntil.toISOString()}. If its holder is gone, no instance retries it before.`,
      );
    if (now.getTime() - leaseUntil.getTime() <= 15 * MINUTE_MS) return undefined;
    const isRegistered = register?.jobs.some((each) => each.job === job) ?? true;
    const why = isRegistered ? '' : ', because none has registered the job';
    return finding('stuck-run', `${subject} has a holder that is gone, and no instance retries it${why}.`);
  };
  return firstOfEach(runs.map(judge));
}
