import type { Command } from 'commander';
import { InvalidLockConfigurationError, SchemaMismatchError, type LockState } from '../../core';
import type { JobGuard } from '../../guard';
import { leaseOf, readHold } from '../../core/lease/owner';
import type { DeclaredJob, RegisteredJob, Run } from '../../ledger';
import { stateOfRun } from '../../ledger/operator/state-of-run';
import { addGuardCommand, withGuard } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { Options } from '../options';
import { commandText, print, printJson, printWarning, quoted, shown, styled } from '../terminal';
import { commandOf } from './runs';

/** Something that keeps a job from running, and what ends it. */
interface Obstacle {
  readonly reason: string;
  /** In sentences. */
  readonly text: string;
  /** The command that ends it now, for an operator who has checked that it may. */
  readonly command?: string | undefined;
}

/** `cronlatch why`: what keeps a job from running now, also a job that has only a lock. */
export function addWhyCommand(program: Command): void {
  addGuardCommand(program, 'why <job>', 'explain why a job does not run now')
    .option('--scope <scope>', 'the scope, if the job has scopes')
    .action(withGuard(explainWhy));
}

async function explainWhy(guard: JobGuard, { scope, json }: Options, job = ''): Promise<void> {
  const jobs = await KnownJobs.of(guard).catch(noneIfNoRunStore);
  const registered = jobs?.get(job);
  const lock = await guard.locks.inspect(registered?.declared.lock ?? job);
  if (lock === undefined) await jobs?.check(job);
  const run = registered?.declared.kind === 'lock' ? undefined : await newestRun(jobs, job, scope);
  const ofRun = run === undefined ? [] : [runObstacle(run, lock)];
  // A run that has ended stops no tick of another period.
  const isEnded =
    run?.nextAttemptAt === undefined && run?.state !== 'running' && run?.state !== 'interrupted';
  const isPast = run !== undefined && isEnded && jobs?.isCurrent(run) === false;
  const obstacles = [...lockObstacles(lock, registered, jobs?.now ?? new Date()), ...(isPast ? [] : ofRun)];
  const nextScheduledAt = registered?.nextScheduledAt;
  if (json) return printJson('why', { job, obstacles, lock, newestRun: run, nextScheduledAt });
  obstacles.forEach(printObstacle);
  if (obstacles.length === 0) print('Nothing keeps it from running.');
  if (isPast && run.state !== 'completed') ofRun.forEach(printObstacle);
  if (nextScheduledAt !== undefined) print(tickText(nextScheduledAt, jobs?.now ?? new Date()));
}

/** Without a run store, all jobs have only locks. */
function noneIfNoRunStore(error: unknown): undefined {
  if (!(error instanceof InvalidLockConfigurationError)) throw error;
}

/** The lock is shown even if the table of runs is missing. */
async function newestRun(jobs?: KnownJobs, job = '', scope?: string): Promise<Run | undefined> {
  try {
    return await jobs?.newestRun(job, scope);
  } catch (error) {
    if (!(error instanceof SchemaMismatchError)) throw error;
    printWarning(`The runs are unknown. ${error.message}`);
    return undefined;
  }
}

function printObstacle({ text, command }: Obstacle): void {
  print(shown(text));
  if (command !== undefined) print(`  ${styled('bold', command)}`);
}

function lockObstacles(
  lock: LockState | undefined,
  registered: RegisteredJob | undefined,
  now: Date,
): Obstacle[] {
  if (!lock?.isHeld) return [];
  const { name, lockedBy, lockedAt, lockUntil } = lock;
  const hold = readHold(lockedBy);
  if (hold !== undefined) {
    const text = `${hold.actor} holds lock '${name}' since ${shown(hold.since)} until ${shown(lockUntil)}, so that no instance runs the job: ${hold.reason}.`;
    return [{ reason: 'held', text, command: commandText('unhold', [name], ' --reason TEXT') }];
  }
  const held = `Lock '${name}' is held by ${lockedBy} since ${shown(lockedAt)}, until ${shown(lockUntil)} at the latest.`;
  if (isRenewed(lock, registered?.declared, now)) {
    const text = `${held} Its holder renews it, so it is running: wait for its end. If it crashes, it renews no more, and this command shows how to release the lock.`;
    return [{ reason: 'locked', text }];
  }
  const text = `${held} It becomes free when the holder ends. If the holder has crashed, release it:`;
  const command = commandText('release', [name], ` --owner ${quoted(lockedBy)} --reason TEXT`);
  return [{ reason: 'locked', text, command }];
}

/** A holder renews at the latest when half of its lease has passed. The share of it that is left shows one that does not. */
const LEFT_AFTER_RENEWAL = 0.4;

/** Whether the holder took or renewed its lease not long ago, and will renew it again. */
function isRenewed({ lockedBy, lockUntil }: LockState, declared: DeclaredJob | undefined, now: Date) {
  // Without a declaration, the length of the lease is unknown.
  if (declared === undefined) return leaseOf(lockedBy) !== lockedBy;
  const leftMs = lockUntil.getTime() - now.getTime();
  return declared.keepAlive && leftMs >= declared.lockAtMostForMs * LEFT_AFTER_RENEWAL;
}

function runObstacle(run: Run, lock: LockState | undefined): Obstacle {
  const state = stateOfRun(run, lock?.isHeld === true);
  const advice = state.remedy === undefined ? '' : ` ${state.remedy.advice}`;
  const text = `The run for ${run.periodKey} ${state.sentence}.${advice}`;
  return { reason: run.state, text, command: commandOf(run, state) };
}

function tickText(next: Date, now: Date): string {
  return next > now
    ? `Its next tick is at ${shown(next)}.`
    : `Its tick of ${shown(next)} has not been answered: check that an instance with this job is running.`;
}
