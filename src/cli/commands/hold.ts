import { Option, type Command } from 'commander';
import { setTimeout as pause } from 'node:timers/promises';
import { InvalidLockUseError, type LockState } from '../../core';
import { isHoldOwner } from '../../core/lease/owner';
import { integrationOf } from '../../guard/integration';
import { periodAt } from '../../ledger';
import { isOverdue, type RunKey } from '../../ledger/run';
import { ConflictError, UsageError } from '../failure';
import { addChangeCommand, agrees, withGuardToChange } from '../guard-command';
import { KnownJobs } from '../known-jobs';
import type { OpenedGuard } from '../open-guard';
import { endOf, instantIn, type ChangeOptions } from '../options';
import { printJson, shown } from '../output';
import { print, printNote } from '../terminal';

interface HoldOptions extends ChangeOptions {
  readonly until: Date;
  readonly wait?: boolean;
}

interface UnholdOptions extends ChangeOptions {
  readonly skip?: boolean;
}

const POLL_MS = 1000;

/** `cronlatch hold` keeps the jobs of a lock from starting until an instant, and `cronlatch unhold` ends that. */
export function addHoldCommands(program: Command): void {
  const until = new Option(
    '--until <time>',
    'the end: an instant such as 2026-11-23T06:00Z, or a duration such as 2h',
  );
  addChangeCommand(program, 'hold <lock>', 'keep the jobs of a lock from starting, on all instances')
    .addOption(until.argParser(endOf).makeOptionMandatory())
    .option('--wait', 'wait until a job that is running has ended')
    .action(withGuardToChange(hold));
  addChangeCommand(program, 'unhold <lock>', 'end a hold, so that overdue runs start')
    .option('--skip', 'record the periods that were due during the hold as skipped')
    .action(withGuardToChange(unhold));
}

async function hold({ guard }: OpenedGuard, options: HoldOptions, name = ''): Promise<void> {
  const { until, wait = false, actor, reason, json } = options;
  const before = await stateOf(guard, name);
  if (before?.isHeld && !wait) throw heldError(name, before);
  const change = [`hold lock ${shown(name)} until ${shown(until)}: no instance starts its jobs until then`];
  if (before === undefined) change.push('No instance has taken this lock so far, so check its name.');
  if (!(await agrees(change.join('\n'), options))) return;
  let isWaiting = false;
  while (!(await guard.locks.hold(name, { until, actor, reason }))) {
    const state = await stateOf(guard, name);
    if (!wait) throw heldError(name, state);
    if (!isWaiting && state?.isHeld) printNote(`waiting for ${state.lockedBy}, which holds the lock`);
    isWaiting = true;
    await pause(POLL_MS);
  }
  const heldBy = (await guard.locks.inspect(name))?.lockedBy;
  if (json) printJson('hold', { lock: name, until, heldBy });
  else print(`held as ${shown(heldBy)}`);
}

async function unhold(opened: OpenedGuard, options: UnholdOptions, name = ''): Promise<void> {
  const { guard } = opened;
  const { actor, reason, skip = false, json } = options;
  const state = await guard.locks.inspect(name);
  if (!state?.isHeld || !isHoldOwner(state.lockedBy)) throw notHeldError(name, state);
  const { lockedBy: heldBy, lockUntil: heldUntil } = state;
  const known = skip ? await KnownJobs.of(opened) : undefined;
  const skipped = known ? await periodsDueDuring(opened, known, { name, heldBy }) : [];
  const change = [
    `end the hold of lock ${shown(name)} by ${shown(heldBy)}, which lasts until ${shown(heldUntil)}`,
    ...skipped.map(({ job, periodKey }) => `skip job ${shown(job)} for ${shown(periodKey)}`),
  ];
  if (!(await agrees(change.join('\n'), options))) return;
  // While the lock is held, no instance can start these runs.
  for (const run of skipped) await known?.ledger.skip(run, { actor, reason });
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
async function periodsDueDuring(
  { guard }: OpenedGuard,
  known: KnownJobs,
  { name, heldBy }: { readonly name: string; readonly heldBy: string },
): Promise<readonly RunKey[]> {
  const since = instantIn(heldBy.slice(heldBy.lastIndexOf('/') + 1));
  const ofApp = integrationOf(guard)
    .requireOncePerRunner('--skip needs')
    .registry.all.filter(({ lock }) => lock.name === name);
  const registered = (known.register?.jobs ?? []).filter(
    ({ declared }) => declared.lock === name && declared.kind !== 'lock' && declared.kind !== 'tick',
  );
  const jobs = new Set([...ofApp.map(({ policy }) => policy.job), ...registered.map(({ job }) => job)]);
  if (since === undefined || jobs.size === 0)
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

/** A provider that cannot show its locks cannot hold them either, and `hold` explains why. */
async function stateOf(guard: OpenedGuard['guard'], name: string): Promise<LockState | undefined> {
  return await guard.locks.inspect(name).catch((error: unknown) => {
    if (error instanceof InvalidLockUseError) return undefined;
    throw error;
  });
}

function heldError(name: string, state: LockState | undefined): ConflictError {
  const holder = state?.isHeld
    ? `'${state.lockedBy}' until ${state.lockUntil.toISOString()}`
    : 'another instance';
  return new ConflictError(
    `Lock '${name}' is held by ${holder}. Wait for its release with --wait, or end a hold with unhold.`,
  );
}

function notHeldError(name: string, state: LockState | undefined): ConflictError {
  const why = state?.isHeld ? `'${state.lockedBy}' holds it` : 'the lock is free';
  return new ConflictError(`There is no hold of lock '${name}' to end: ${why}.`);
}
