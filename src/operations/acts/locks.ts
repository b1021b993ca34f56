import { setTimeout as delay } from 'node:timers/promises';
import {
  InvalidLockConfigurationError,
  InvalidLockUseError,
  LockStorageError,
  noneAfter,
  type LockState,
} from '../../core';
import { DAY_MS, parsePositiveDuration } from '../../core/duration';
import { isHeldByProcess, isHoldOwner, newHoldOwner, readHold } from '../../core/lease/hold-owner';
import { describeAhead } from '../../core/lease/lock-records';
import { instanceOf, leaseOf } from '../../core/lease/owner';
import { describeValue } from '../../core/options';
import { methodOf } from '../../guard/guard-locks';
import { periodAt } from '../../ledger';
import { fixedScopeOf } from '../../ledger/policy/job-policy';
import { isOverdue, type RunKey } from '../../ledger/run';
import { ConflictError } from '../../ledger/operator/decide-act';
import { timeText } from '../../ledger/operator/state-of-run';
import { instantIn } from '../../ledger/periods/business-date';
import { catalogIfAny, type JobCatalog } from '../job-catalog';
import { lifeOf, mayBeDead } from '../why';
import { field, optionalText, textOf, type Act, type Desk, type Plan, type Values } from './act';
import { skip } from './runs';

const POLL_MS = 1000;
const LONGEST_DAYS = 365;

const LOCK = field('lock', 'text', 'a lock, instead of a job', { value: 'name' });

export const pause: Act = {
  verb: 'pause',
  of: 'lock',
  operands: '[job]',
  summary: 'keep a job from starting, on all instances',
  label: 'Pause',
  effect: 'Keeps all jobs of the lock from starting, on all instances. A run that has started goes on.',
  done: 'Paused: no instance starts the job.',
  fields: [
    LOCK,
    field('until', 'text', 'the end: an instant such as 2026-11-23T06:00Z, or a duration such as 2h', {
      value: 'time',
      label: 'Until',
      hint: 'a duration such as 2h, or an instant; until you resume it if this is empty',
    }),
  ],
  plan: planPause,
};

async function planPause(desk: Desk, values: Values): Promise<Plan> {
  const { lock, job, known } = await subjectOf(desk, values);
  const { lockProvider, clock } = desk.parts;
  const given = optionalText(values, 'until');
  const until =
    given === undefined ? new Date(clock.wallMs() + LONGEST_DAYS * DAY_MS) : endOf(given, clock.wallMs());
  if (lockProvider.hold === undefined)
    throw new InvalidLockUseError(
      `Cannot pause lock '${lock}': this guard's lock provider has no method 'hold'. Locks of ZooKeeper and row locks cannot outlive the process that took them. Use the option enabled of the job instead.`,
    );
  const before = await stateOf(desk, lock);
  const running = before && isHeldByProcess(before) ? before : undefined;
  if (before?.isHeld && (isHoldOwner(before.lockedBy) || desk.note === undefined))
    throw heldError(lock, before);
  const others = known?.jobsOf(lock).filter((each) => each !== job) ?? [];
  const end = given === undefined ? `you resume it, for ${LONGEST_DAYS} days at most` : timeText(until);
  const what = job === undefined ? `the jobs of lock ${lock}` : `job ${job}`;
  const lines = [`pause ${what} until ${end}: no instance starts ${job ? 'it' : 'them'} until then`];
  if (running)
    lines.push(`${running.lockedBy} has the lock. Its run goes on, and the pause begins after it.`);
  if (before === undefined && job === undefined)
    lines.push('No instance has taken this lock so far, so check its name.');
  const text = 'These jobs have the same lock, so they are paused, too:';
  return {
    lines,
    confirm: others.length > 0 ? { text, items: others, value: lock } : undefined,
    about: { job, lock, before: before && stateBefore(before) },
    async perform() {
      const owner = newHoldOwner(desk.by.actor, desk.by.reason, new Date(clock.wallMs()));
      const hold = async (): Promise<boolean> =>
        (await lockProvider.hold?.(lock, { owner, lockAtMostFor: until.getTime() - clock.wallMs() })) ===
        true;
      for (let isWaiting = false; !(await hold()); isWaiting = true) {
        const state = await stateOf(desk, lock);
        const mayWait = state === undefined || !isHoldOwner(state.lockedBy);
        if (!desk.note || !mayWait || until.getTime() <= clock.wallMs() + POLL_MS)
          throw heldError(lock, state);
        if (!isWaiting && state?.isHeld) desk.note(`waiting for ${state.lockedBy}, which holds the lock`);
        await delay(POLL_MS);
      }
      return { facts: { job, others, lock, heldBy: owner, until } };
    },
  };
}

/** The lock of a job, or one that is named itself. */
async function subjectOf(desk: Desk, values: Values) {
  const [job, lock] = [optionalText(values, 'job'), optionalText(values, 'lock')];
  if ((job === undefined) === (lock === undefined))
    throw new InvalidLockConfigurationError('Name either a job or a lock.');
  if (job === undefined) return { lock: lock ?? '', job, known: undefined };
  const known = await desk.jobs();
  return { lock: known.lockOf(job), job, known };
}

/** @throws InvalidLockConfigurationError also for an end that has passed, or is more than 365 days away */
function endOf(text: string, nowMs: number): Date {
  if (/^[\d.]+[dhms]/.test(text)) return new Date(nowMs + parsePositiveDuration(text, 'until', LONGEST_DAYS));
  const end = instantIn(text);
  const days = end && (end.getTime() - nowMs) / DAY_MS;
  if (days !== undefined && days > 0 && days <= LONGEST_DAYS) return end ?? new Date(NaN);
  const why =
    days === undefined ? '' : days > 0 ? ', which is more than 365 days away' : ', which has passed';
  throw new InvalidLockConfigurationError(
    `until is ${describeValue(text)}${why}: use an instant with its offset, such as 2026-11-23T06:00Z, or a duration such as 2h.`,
  );
}

function heldError(name: string, state: LockState | undefined): ConflictError {
  const hold = readHold(state?.lockedBy ?? '');
  const until = state?.isHeld ? ` until ${timeText(state.lockUntil)}` : '';
  if (hold)
    return new ConflictError(
      `Lock '${name}' is paused already, by ${hold.actor}${until}: ${hold.reason}. Resume it first.`,
    );
  const holder = state?.isHeld ? `'${state.lockedBy}'${until}` : 'another instance';
  return new ConflictError(
    `Lock '${name}' is held by ${holder}. Try again when it is free, or let cronlatch pause wait for it.`,
  );
}

/** A provider that cannot show its locks cannot hold them either, and `pause` explains why. */
async function stateOf({ guard: { locks } }: Desk, name: string): Promise<LockState | undefined> {
  return await locks.inspect(name).catch(noneAfter(InvalidLockUseError));
}

export const resume: Act = {
  verb: 'resume',
  of: 'lock',
  operands: '[job]',
  summary: 'end a pause, so that overdue runs start',
  label: 'Resume',
  effect: 'Ends the pause, so that overdue runs start.',
  done: 'Resumed: overdue runs start at the next check.',
  fields: [LOCK, field('skip', 'flag', 'record the periods that were due during it as skipped')],
  plan: planResume,
};

async function planResume(desk: Desk, values: Values): Promise<Plan> {
  const { lock, job } = await subjectOf(desk, values);
  const forceRelease = releaserOf(desk);
  const state = await desk.guard.locks.inspect(lock);
  if (!state?.isHeld || !isHoldOwner(state.lockedBy)) throw notPausedError(lock, state);
  const { lockedBy: heldBy, lockUntil: heldUntil } = state;
  const skipped = values['skip'] === true ? await periodsDueDuring(await desk.jobs(), lock, heldBy) : [];
  return {
    lines: [
      `end the pause of lock ${lock} by ${heldBy}, which lasts until ${timeText(heldUntil)}`,
      ...skipped.map(({ job: of, periodKey }) => `skip job ${of} for ${periodKey}`),
    ],
    about: { job, lock, before: stateBefore(state) },
    async perform() {
      for (const { job: of, scope, periodKey: period } of skipped)
        // One that has ended meanwhile needs no skip.
        await skipNow(desk, { job: of, scope, period }).catch(noneAfter(ConflictError));
      if (!(await forceRelease(lock, state))) throw notPausedError(lock, await stateOf(desk, lock));
      return { facts: { job, lock, heldBy, heldUntil, skipped } };
    },
  };
}

async function skipNow(desk: Desk, run: Values): Promise<void> {
  await (await skip.plan(desk, run)).perform();
}

function notPausedError(name: string, state: LockState | undefined): ConflictError {
  const why = state?.isHeld ? `'${state.lockedBy}' holds it` : 'it is free';
  return new ConflictError(`Lock '${name}' is not paused: ${why}.`);
}

/**
 * The periods that would run after the pause: overdue runs, periods without a run, and that of the last tick.
 *
 * @throws InvalidLockUseError if no job of the lock is known to run once per period, or only code knows its periods
 */
async function periodsDueDuring(known: JobCatalog, name: string, heldBy: string): Promise<readonly RunKey[]> {
  const since = readHold(heldBy)?.since;
  const jobs = known.oncePerJobsOf(name);
  if (since === undefined || jobs.length === 0)
    throw new InvalidLockUseError(
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

export const release: Act = {
  verb: 'release',
  of: 'lock',
  operands: '<lock>',
  summary: 'release a lock whose holder is dead',
  label: 'Release',
  isDestructive: true,
  effect:
    'Ends the lease of the holder, so that another instance can take the lock. The holder is not stopped: if it still runs, a second copy can start. First make sure that it has ended.',
  done: 'Released.',
  fields: [field('owner', 'text', 'the holder, as locks shows it', { value: 'owner', required: true })],
  plan: planRelease,
};

async function planRelease(desk: Desk, values: Values): Promise<Plan> {
  const [name, owner] = [textOf(values, 'lock'), optionalText(values, 'owner')];
  const forceRelease = releaserOf(desk);
  const state = await desk.guard.locks.inspect(name);
  if (!state?.isHeld) throw new ConflictError(`Lock '${name}' is free: no process holds it.`);
  const { lockedBy, lockUntil } = state;
  if (owner !== undefined && leaseOf(lockedBy) !== leaseOf(owner) && instanceOf(lockedBy) !== owner)
    throw new ConflictError(
      `Lock '${name}' is held by '${lockedBy}', not by '${owner}'. If you have seen that that holder is dead, name it as owner.`,
    );
  // The table of jobs can be out of reach, and then nothing shows whether the holder lives.
  const known = await catalogIfAny(desk.guard).catch(noneAfter(LockStorageError));
  const [job = '', ...others] = known?.jobsOf(name) ?? [];
  const { life } = lifeOf(state, known?.get(job), known?.now ?? new Date());
  const mayLive = isHeldByProcess(state) && !describeAhead(state) && (others.length > 0 || !mayBeDead(life));
  const text = `${instanceOf(lockedBy)} may still run: its renewal of the lock is not late. If you release the lock, a second copy can start beside it.`;
  return {
    lines: [
      `release lock ${name}, held by ${lockedBy} until ${timeText(lockUntil)}`,
      'The holder is not stopped, so first make sure that it has ended.',
    ],
    confirm: mayLive ? { text, value: leaseOf(lockedBy) } : undefined,
    about: { lock: name, before: stateBefore(state) },
    async perform() {
      if (!(await forceRelease(name, state)))
        throw new ConflictError(`Lock '${name}' was not released: its holder has changed meanwhile.`);
      return { facts: { released: name, owner: lockedBy } };
    },
  };
}

function stateBefore({ isHeld, lockedBy, lockUntil }: LockState): object {
  return { isHeld, lockedBy, lockUntil };
}

/**
 * @returns releases a lock; `false` if this holder does not have it any more: nothing was changed
 * @throws InvalidLockUseError if the lock provider cannot do that
 */
function releaserOf({ parts, by }: Desk) {
  const release = methodOf(parts.lockProvider, 'forceRelease');
  return async (name: string, { lockedBy, lockUntil }: LockState): Promise<boolean> => {
    const isReleased = await release(name, lockedBy);
    const event = { name, scheduledAt: undefined, heldBy: lockedBy, heldUntil: lockUntil, ...by };
    if (isReleased) parts.events.emit('lock:forced', event);
    return isReleased;
  };
}
