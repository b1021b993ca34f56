import { Option, type Command } from 'commander';
import { setTimeout as delay } from 'node:timers/promises';
import { InvalidLockUseError, noneAfter, type LockState } from '../../core';
import { DAY_MS } from '../../core/duration';
import { isHoldOwner, readHold } from '../../core/lease/hold-owner';
import type { JobGuard } from '../../guard';
import { periodAt } from '../../ledger';
import { fixedScopeOf } from '../../ledger/policy/job-policy';
import { isOverdue, type RunKey } from '../../ledger/run';
import { ConflictError, orConflict, UsageError } from '../failure';
import { addChangeCommand, agrees, withGuard } from '../guard-command';
import { JobCatalog } from '../../operations/job-catalog';
import { endOf, type ChangeOptions } from '../options';
import { print, printJson, printNote, shown } from '../terminal';

const POLL_MS = 1000;
const LONGEST_MS = 365 * DAY_MS;

type HoldOptions = ChangeOptions & { readonly until?: Date; readonly wait?: boolean };
type EndOptions = ChangeOptions & { readonly skip?: boolean };

/**
 * `cronlatch hold` keeps the jobs of a lock from starting until an instant, and `unhold` ends that. `pause` and `resume` do
 * the same with the lock of a job.
 */
export function addHoldCommands(program: Command): void {
  const until = (): Option => new Option('--until <time>', UNTIL).argParser(endOf);
  const during = 'record the periods that were due during it as skipped';
  addChangeCommand(program, 'pause <job>', 'keep a job from starting, on all instances')
    .addOption(until())
    .action(withGuard<HoldOptions>((...call) => hold('pause', ...call)));
  addChangeCommand(program, 'resume <job>', 'end a pause, so that overdue runs start')
    .option('--skip', during)
    .action(withGuard<EndOptions>((...call) => unhold('resume', ...call)));
  addChangeCommand(program, 'hold <lock>', 'keep the jobs of a lock from starting, on all instances')
    .addOption(until().makeOptionMandatory())
    .option('--wait', 'wait until a job that is running has ended')
    .action(withGuard<HoldOptions>((...call) => hold('hold', ...call)));
  addChangeCommand(program, 'unhold <lock>', 'end a hold, so that overdue runs start')
    .option('--skip', during)
    .action(withGuard<EndOptions>((...call) => unhold('unhold', ...call)));
}

const UNTIL = 'the end: an instant such as 2026-11-23T06:00Z, or a duration such as 2h';

async function hold(verb: 'hold' | 'pause', guard: JobGuard, options: HoldOptions, name = ''): Promise<void> {
  const { until = new Date(Date.now() + LONGEST_MS), actor, reason, json } = options;
  const known = verb === 'pause' ? await JobCatalog.of(guard) : undefined;
  const lock = known?.lockOf(name) ?? name;
  const before = await stateOf(guard, lock);
  const wait = known ? !isHoldOwner(before?.lockedBy ?? '') : options.wait;
  if (before?.isHeld && !wait) throw heldError(lock, before);
  const others = known?.jobsOf(lock).filter((job) => job !== name) ?? [];
  const end = options.until ? shown(until) : 'you call resume, for 365 days at most';
  const change = known
    ? [`pause job ${shown(name)} until ${end}: no instance starts it until then`]
    : [`hold lock ${shown(lock)} until ${end}: no instance starts its jobs until then`];
  for (const job of others) change.push(`Job ${shown(job)} has the same lock, so this pauses it, too.`);
  if (before?.isHeld)
    change.push(`${shown(before.lockedBy)} has the lock. Its run goes on, and the hold begins after it.`);
  if (before === undefined && !known)
    change.push('No instance has taken this lock so far, so check its name.');
  if (!(await agrees(change, options))) return;
  let isWaiting = false;
  while (!(await guard.locks.hold(lock, { until, actor, reason }))) {
    const state = await stateOf(guard, lock);
    if (!wait || until.getTime() <= Date.now() + POLL_MS) throw heldError(lock, state);
    if (!isWaiting && state?.isHeld) printNote(`waiting for ${state.lockedBy}, which holds the lock`);
    isWaiting = true;
    await delay(POLL_MS);
  }
  const heldBy = (await guard.locks.inspect(lock))?.lockedBy;
  if (json) printJson(verb, { ...(known && { job: name, others }), lock, heldBy, until, actor, reason });
  else print(`held as ${shown(heldBy)}`);
}

async function unhold(
  verb: 'unhold' | 'resume',
  guard: JobGuard,
  options: EndOptions,
  name = '',
): Promise<void> {
  const { actor, reason, skip = false, json } = options;
  const isResume = verb === 'resume';
  const known = isResume || skip ? await JobCatalog.of(guard) : undefined;
  const lock = isResume && known ? known.lockOf(name) : name;
  const state = await guard.locks.inspect(lock);
  if (!state?.isHeld || !isHoldOwner(state.lockedBy)) throw notHeldError(lock, state);
  const { lockedBy: heldBy, lockUntil: heldUntil } = state;
  const skipped = known && skip ? await periodsDueDuring(known, lock, heldBy) : [];
  const change = [
    `end the hold of lock ${shown(lock)} by ${shown(heldBy)}, which lasts until ${shown(heldUntil)}`,
    ...skipped.map(({ job, periodKey }) => `skip job ${shown(job)} for ${shown(periodKey)}`),
  ];
  if (!(await agrees(change, options))) return;
  for (const run of skipped) if (known) await orConflict(known.ledger.skip(run, { actor, reason }));
  if (!(await guard.locks.unhold(lock, { actor, reason })))
    throw notHeldError(lock, await guard.locks.inspect(lock));
  const ofJob = isResume && { job: name };
  if (json) printJson(verb, { ...ofJob, lock, heldBy, heldUntil, skipped, actor, reason });
  else print(`ended the hold of ${shown(lock)}`);
}

/**
 * The periods that would run after the hold: overdue runs, periods without a run, and that of the last tick.
 *
 * @throws UsageError if no job of the lock is known to run once per period, or only code knows its periods
 */
async function periodsDueDuring(known: JobCatalog, name: string, heldBy: string): Promise<readonly RunKey[]> {
  const since = readHold(heldBy)?.since;
  const jobs = known.oncePerJobsOf(name);
  if (since === undefined || jobs.length === 0)
    throw new UsageError(
      `Cannot skip the periods of lock '${name}': no job with this lock is known to run once per period.`,
    );
  const due: RunKey[] = [];
  for (const job of jobs) {
    const policy = known.policy(job);
    const scope = fixedScopeOf(policy);
    const open = await known.ledger.list({ job, states: ['pending', 'failed'], limit: 1000 });
    due.push(...open.filter((run) => isOverdue(run, known.now)));
    for (const { key } of await known.ledger.gaps(job, { scope, from: since }))
      due.push({ job, scope, periodKey: key });
    const tick = known.lastTimeOf(job);
    if (tick === undefined || tick < since) continue;
    const current = { job, scope, periodKey: periodAt(tick, policy.period).key };
    if ((await known.ledger.get(current)) === undefined) due.push(current);
  }
  const keys = due.map(({ job, scope, periodKey }) => ({ job, scope, periodKey }));
  return [...new Map(keys.map((key) => [JSON.stringify(key), key])).values()];
}

/** A provider that cannot show its locks cannot hold them either, and `hold` explains why. */
async function stateOf({ locks }: JobGuard, name: string): Promise<LockState | undefined> {
  return await locks.inspect(name).catch(noneAfter(InvalidLockUseError));
}

function heldError(name: string, state: LockState | undefined): ConflictError {
  const holder = state?.isHeld ? `'${state.lockedBy}' until ${shown(state.lockUntil)}` : 'another instance';
  return new ConflictError(
    `Lock '${name}' is held by ${holder}. Wait for its release (hold --wait), or end a hold with unhold.`,
  );
}

function notHeldError(name: string, state: LockState | undefined): ConflictError {
  const why = state?.isHeld ? `'${state.lockedBy}' holds it` : 'the lock is free';
  return new ConflictError(`There is no hold of lock '${name}' to end: ${why}.`);
}
