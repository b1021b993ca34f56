import { Option, type Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidLockUseError, type LockState } from '../../core';
import { parsePositiveDuration } from '../../core/duration';
import { isHoldOwner, leaseOf, readHold } from '../../core/lease/owner';
import type { JobGuard } from '../../guard';
import { periodAt } from '../../ledger';
import { isOverdue, type RunKey } from '../../ledger/run';
import { ConflictError, orConflict, UsageError } from '../failure';
import { addChangeCommand, addGuardCommand, agrees, allLocks, withGuard } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import { endOf, type ChangeOptions, type Options } from '../options';
import { print, printJson, printNote, printTable, shown } from '../terminal';

const POLL_MS = 1000;

/**
 * `cronlatch locks` lists the locks. `release` ends the lease of a holder that has crashed. `hold` keeps the jobs of a lock
 * from starting until an instant, and `unhold` ends that. `purge` deletes old runs, or the records of old locks.
 */
export function addLockCommands(program: Command): void {
  addGuardCommand(program, 'locks', 'list the locks and their holders')
    .option('--held', 'only locks that are held')
    .action(withGuard(listLocks));
  addChangeCommand(program, 'release <lock>', 'release a lock whose holder has crashed')
    .requiredOption('--owner <owner>', 'the holder, as locks shows it')
    .action(withGuard(release));
  const until = new Option(
    '--until <time>',
    'the end: an instant such as 2026-11-23T06:00Z, or a duration such as 2h',
  );
  addChangeCommand(program, 'hold <lock>', 'keep the jobs of a lock from starting, on all instances')
    .addOption(until.argParser(endOf).makeOptionMandatory())
    .option('--wait', 'wait until a job that is running has ended')
    .action(withGuard(hold));
  addChangeCommand(program, 'unhold <lock>', 'end a hold, so that overdue runs start')
    .option('--skip', 'record the periods that were due during the hold as skipped')
    .action(withGuard(unhold));
  addChangeCommand(program, 'purge', 'delete runs that ended long ago')
    .requiredOption('--older-than <duration>', 'how long ago, as in 400d')
    .option('--locks', 'delete records of locks instead, for guards with keepRows: false')
    .action(withGuard(purge, ({ locks }) => (locks ? { keepRows: false } : {})));
}

async function listLocks(
  guard: JobGuard,
  { held = false, json }: Options & { readonly held?: boolean },
): Promise<void> {
  const locks = (await allLocks(guard)).filter(({ isHeld }) => isHeld || !held);
  if (json) return printJson('locks', { locks });
  if (locks.length === 0) return print(held ? 'no lock is held' : 'there are no locks');
  printTable(
    locks.map(({ name, isHeld, lockedBy, lockedAt, lockUntil, fencingToken }) => ({
      lock: name,
      state: isHeld ? ['yellow', 'held'] : 'free',
      holder: isHeld ? lockedBy : undefined,
      since: isHeld ? lockedAt : undefined,
      until: isHeld ? lockUntil : undefined,
      token: fencingToken,
    })),
  );
}

async function release(
  { locks }: JobGuard,
  options: ChangeOptions & { readonly owner: string },
  name = '',
): Promise<void> {
  const { owner, actor, reason, json } = options;
  const state = await locks.inspect(name);
  if (!state?.isHeld) throw new ConflictError(`Lock '${name}' is free: no process holds it.`);
  const { lockedBy, lockUntil } = state;
  if (leaseOf(lockedBy) !== leaseOf(owner))
    throw new ConflictError(
      `Lock '${name}' is held by '${lockedBy}', not by '${owner}'. If that holder has crashed, pass it as --owner.`,
    );
  const change = [
    `release lock ${shown(name)}, held by ${shown(lockedBy)} until ${shown(lockUntil)}`,
    'The holder is not stopped, so first make sure that it has ended.',
  ];
  if (!(await agrees(change, options))) return;
  if (!(await locks.release(name, { actor, reason, owner: lockedBy })))
    throw new ConflictError(`Lock '${name}' was not released: its holder has changed meanwhile.`);
  if (json) printJson('release', { released: name, owner: lockedBy, actor, reason });
  else print(`released ${shown(name)}`);
}

async function hold(
  guard: JobGuard,
  options: ChangeOptions & { readonly until: Date; readonly wait?: boolean },
  name = '',
): Promise<void> {
  const { until, wait = false, actor, reason, json } = options;
  const before = await stateOf(guard, name);
  if (before?.isHeld && !wait) throw heldError(name, before);
  const change = [`hold lock ${shown(name)} until ${shown(until)}: no instance starts its jobs until then`];
  if (before === undefined) change.push('No instance has taken this lock so far, so check its name.');
  if (!(await agrees(change, options))) return;
  let isWaiting = false;
  while (!(await guard.locks.hold(name, { until, actor, reason }))) {
    const state = await stateOf(guard, name);
    if (!wait || until.getTime() <= Date.now() + POLL_MS) throw heldError(name, state);
    if (!isWaiting && state?.isHeld) printNote(`waiting for ${state.lockedBy}, which holds the lock`);
    isWaiting = true;
    await pause(POLL_MS);
  }
  const heldBy = (await guard.locks.inspect(name))?.lockedBy;
  if (json) printJson('hold', { lock: name, heldBy, until, actor, reason });
  else print(`held as ${shown(heldBy)}`);
}

async function unhold(
  guard: JobGuard,
  options: ChangeOptions & { readonly skip?: boolean },
  name = '',
): Promise<void> {
  const { actor, reason, skip = false, json } = options;
  const state = await guard.locks.inspect(name);
  if (!state?.isHeld || !isHoldOwner(state.lockedBy)) throw notHeldError(name, state);
  const { lockedBy: heldBy, lockUntil: heldUntil } = state;
  const known = skip ? await KnownJobs.of(guard) : undefined;
  const skipped = known ? await periodsDueDuring(known, name, heldBy) : [];
  const change = [
    `end the hold of lock ${shown(name)} by ${shown(heldBy)}, which lasts until ${shown(heldUntil)}`,
    ...skipped.map(({ job, periodKey }) => `skip job ${shown(job)} for ${shown(periodKey)}`),
  ];
  if (!(await agrees(change, options))) return;
  // While the lock is held, no instance can start these runs.
  for (const run of skipped) if (known) await orConflict(known.ledger.skip(run, { actor, reason }));
  if (!(await guard.locks.unhold(name, { actor, reason })))
    throw notHeldError(name, await guard.locks.inspect(name));
  if (json) printJson('unhold', { lock: name, heldBy, heldUntil, skipped, actor, reason });
  else print(`ended the hold of ${shown(name)}`);
}

/**
 * The periods that would run after the hold: overdue runs, periods without a run, and that of the last tick.
 *
 * @throws UsageError if no job of the lock is known to run once per period, or only code knows its periods
 */
async function periodsDueDuring(known: KnownJobs, name: string, heldBy: string): Promise<readonly RunKey[]> {
  const since = readHold(heldBy)?.since;
  const jobs = known.oncePerJobsOf(name);
  if (since === undefined || jobs.length === 0)
    throw new UsageError(
      `Cannot skip the periods of lock '${name}': no job with this lock is known to run once per period.`,
    );
  const due: RunKey[] = [];
  for (const job of jobs) {
    const { scope: declared, period } = known.policy(job);
    const scope = typeof declared === 'string' ? declared : '';
    const open = await known.ledger.list({ job, states: ['pending', 'failed'], limit: 1000 });
    due.push(...open.filter((run) => isOverdue(run, known.now)));
    for (const { key } of await known.ledger.gaps(job, { scope, from: since }))
      due.push({ job, scope, periodKey: key });
    const tick = known.get(job)?.nextScheduledAt;
    if (tick === undefined || tick < since || tick > known.now) continue;
    const current = { job, scope, periodKey: periodAt(tick, period).key };
    if ((await known.ledger.get(current)) === undefined) due.push(current);
  }
  const keys = due.map(({ job, scope, periodKey }) => ({ job, scope, periodKey }));
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
}

async function purge(
  guard: JobGuard,
  options: ChangeOptions & { readonly olderThan: string; readonly locks?: boolean },
): Promise<void> {
  const { olderThan, locks = false, actor, reason, json } = options;
  parsePositiveDuration(olderThan, '--older-than', 36_500);
  const what = locks
    ? `the records of locks that ended more than ${olderThan} ago. Other programs, such as ShedLock for Java, need them`
    : `the runs that ended more than ${olderThan} ago, except for the newest of each job`;
  if (!(await agrees([`delete ${what}`], options))) return;
  const records = locks ? guard.locks : (await KnownJobs.of(guard)).ledger;
  const deleted = await records.purge({ olderThan });
  if (json) printJson('purge', { deleted, locks, actor, reason });
  else print(`deleted ${deleted}`);
}

/** A provider that cannot show its locks cannot hold them either, and `hold` explains why. */
async function stateOf({ locks }: JobGuard, name: string): Promise<LockState | undefined> {
  return await locks.inspect(name).catch((error: unknown) => {
    if (error instanceof InvalidLockUseError) return undefined;
    throw error;
  });
}

function heldError(name: string, state: LockState | undefined): ConflictError {
  const holder = state?.isHeld ? `'${state.lockedBy}' until ${shown(state.lockUntil)}` : 'another instance';
  return new ConflictError(
    `Lock '${name}' is held by ${holder}. Wait for its release with --wait, or end a hold with unhold.`,
  );
}

function notHeldError(name: string, state: LockState | undefined): ConflictError {
  const why = state?.isHeld ? `'${state.lockedBy}' holds it` : 'the lock is free';
  return new ConflictError(`There is no hold of lock '${name}' to end: ${why}.`);
}
