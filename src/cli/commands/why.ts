import type { Command } from 'commander';
import { InvalidLockConfigurationError, SchemaMismatchError, type LockState } from '../../core';
import type { JobGuard } from '../../guard';
import type { RegisteredJob, Run } from '../../ledger';
import { addGuardCommand, withGuard } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { Options } from '../options';
import { print, printJson, printWarning, shown, styled } from '../terminal';
import { briefly } from './runs';

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
  const obstacles = [...lockObstacles(lock, registered), ...(isPast ? [] : ofRun)];
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

/** The owner of a lock that an operator holds: who, why, and since when. */
const HOLD = /^hold\/([^/]*)\/(.*)\/([^/]*)$/;

function lockObstacles(lock: LockState | undefined, registered: RegisteredJob | undefined): Obstacle[] {
  if (!lock?.isHeld) return [];
  const { name, lockedBy, lockedAt, lockUntil } = lock;
  const [, actor, reason, since] = HOLD.exec(lockedBy) ?? [];
  if (actor !== undefined)
    return [
      {
        reason: 'held',
        text: `${actor} holds lock '${name}' since ${since} until ${shown(lockUntil)}, so that no instance runs the job: ${reason}.`,
        command: `cronlatch unhold ${quoted(name)} --reason TEXT`,
      },
    ];
  const renewed = registered?.declared.keepAlive ? ' Its holder renews it while the job runs.' : '';
  return [
    {
      reason: 'locked',
      text: `Lock '${name}' is held by ${lockedBy} since ${shown(lockedAt)}, until ${shown(lockUntil)} at the latest.${renewed} It becomes free when the holder ends. If the holder has crashed, release it:`,
      command: `cronlatch release ${quoted(name)} --owner ${quoted(lockedBy)} --reason TEXT`,
    },
  ];
}

function runObstacle(run: Run, lock: LockState | undefined): Obstacle {
  const { state, periodKey, attempt, nextAttemptAt, startedAt, finishedAt, claimedBy } = run;
  // The text goes on with a full stop.
  const reason = (briefly(run.error) ?? run.reason)?.replace(/\.$/, '');
  const isFinal = nextAttemptAt === undefined;
  const texts: Readonly<Record<Run['state'], string>> = {
    completed: `completed at ${shown(finishedAt)}. To run it again:`,
    running: lock?.isHeld
      ? `is running: attempt ${attempt} started at ${shown(startedAt)} on ${claimedBy}.`
      : `began at ${shown(startedAt)} on ${claimedBy}, but no process holds the lock. If its holder has crashed, the next tick or check for overdue runs takes it over.`,
    failed: isFinal
      ? `failed permanently at ${shown(finishedAt)}: ${reason}. To run it again:`
      : `failed at ${shown(finishedAt)}: ${reason}. Its next attempt is due at ${shown(nextAttemptAt)}.`,
    pending: `is due since ${shown(nextAttemptAt)}. An instance starts it when it checks for overdue runs.`,
    interrupted: `was interrupted: its holder crashed, and onCrash is 'hold'. Check what it did, then record that:`,
    skipped: `was skipped: ${reason}. To run it anyway:`,
  };
  const verbs: Readonly<Record<Run['state'], readonly [verb: string, options?: string] | undefined>> = {
    ...{ completed: ['rerun', ' --force'], failed: isFinal ? ['rerun'] : undefined, skipped: ['rerun'] },
    ...{ interrupted: ['resolve', ' --as completed|failed|pending'], running: undefined, pending: undefined },
  };
  const [verb, options = ''] = verbs[state] ?? [];
  const scope = run.scope === '' ? '' : ` --scope ${quoted(run.scope)}`;
  const call = `${quoted(run.job)} ${quoted(periodKey)}${scope}${options} --reason TEXT`;
  const text = `The run for ${periodKey} ${texts[state]}`;
  return { reason: state, text, command: verb && `cronlatch ${verb} ${call}` };
}

function tickText(next: Date, now: Date): string {
  return next > now
    ? `Its next tick is at ${shown(next)}.`
    : `Its tick of ${shown(next)} has not been answered: check that an instance with this job is running.`;
}

/** For a shell, if the text has characters with a meaning there. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}
