import { InvalidLockConfigurationError, InvalidLockUseError } from '../core';
import { DAY_MS, parsePositiveDuration } from '../core/duration';
import { isHeldByProcess } from '../core/lease/hold-owner';
import { describeAhead } from '../core/lease/lock-records';
import { instanceOf, leaseOf } from '../core/lease/owner';
import type { JobGuard } from '../guard';
import { callsOf } from '../guard/calls/calls';
import { JobCatalog } from '../operations/job-catalog';
import { lifeOf, mayBeDead } from '../operations/why';
import { backfill, findGaps } from '../ledger/operator/backfill';
import { checkAct } from '../ledger/operator/decide-act';
import { dateOf, dayOf } from '../ledger/periods/business-date';
import { fixedScopeOf } from '../ledger/policy/job-policy';
import type { RunKey } from '../ledger/run';
import { knownJobsOf, type Confirmation, type SentForm } from './layout';

interface Act {
  readonly guard: JobGuard;
  readonly by: { readonly actor: string; readonly reason: string };
  readonly values: SentForm['values'];
}

/** An act that is done returns nothing, or asks for a confirmation. One that is refused throws, and the form comes back. */
type Result = Confirmation | void;

const ACTS: ReadonlyMap<string, (act: Act) => Promise<Result>> = new Map(
  Object.entries({
    run: async ({ guard, by, values: { job = '', scope, period } }) =>
      void (await guard.ledger.requestRun(job, {
        ...by,
        scope: scope || undefined,
        periodKey: period || undefined,
      })),
    rerun,
    resolve: async ({ guard, by, values }) => {
      const as = (['completed', 'failed', 'pending'] as const).find((outcome) => outcome === values['as']);
      if (as === undefined) throw new InvalidLockUseError('Choose an outcome: completed, failed or pending.');
      await guard.ledger.resolve(keyOf(values), { ...by, as });
    },
    skip: async ({ guard, by, values }) => (await JobCatalog.of(guard)).ledger.skip(keyOf(values), by),
    backfill: addRuns,
    pause,
    resume: async ({ guard, by, values: { job = '' } }) =>
      await endHold(guard, (await JobCatalog.of(guard)).lockOf(job), by),
    hold: async ({ guard, by, values }) =>
      await holdLock(guard, values['lock'] ?? '', values['for'] ?? '', by),
    unhold: async ({ guard, by, values: { lock = '' } }) => await endHold(guard, lock, by),
    release,
    forget: async ({ guard, by: { actor, reason }, values: { job = '' } }) => {
      await guard.ledger.forget(job);
      // No table keeps it.
      callsOf(guard).warn(`${actor} has removed job '${job}' from the register: ${reason}`);
    },
  }),
);

/**
 * Does what a form asks for.
 *
 * @returns the form, if it must come back; `undefined` if the act is done
 * @throws LockStorageError if the database fails
 */
export async function perform(
  guard: JobGuard,
  actor: string,
  values: SentForm['values'],
): Promise<SentForm | undefined> {
  const act = ACTS.get(values['act'] ?? '');
  try {
    if (act === undefined) throw new InvalidLockUseError(`There is no act '${values['act']}'.`);
    const by = { actor, reason: values['reason'] ?? '' };
    checkAct(by);
    const confirmation = await act({ guard, by, values });
    return confirmation ? { values, confirmation } : undefined;
  } catch (error) {
    if (error instanceof InvalidLockUseError || error instanceof InvalidLockConfigurationError)
      return { values, error: error.message };
    throw error;
  }
}

function keyOf({ job = '', scope = '', period = '' }: SentForm['values']): RunKey {
  return { job, scope, periodKey: period };
}

async function rerun({ guard, by, values }: Act): Promise<Result> {
  const run = await guard.ledger.get(keyOf(values));
  const force = run?.state === 'completed' || run?.state === 'running';
  if (force && values['confirmed'] !== run.state) {
    const text =
      run.state === 'running'
        ? `${instanceOf(run.claimedBy ?? '')} still runs it. That run can no longer complete, but it is not stopped.`
        : 'It has completed, and its work will be done a second time.';
    return { text, value: run.state };
  }
  await guard.ledger.rerun(keyOf(values), { ...by, force });
}

/** Shows the days first, and adds them if they are still the same. */
async function addRuns({ guard, by, values }: Act): Promise<Result> {
  const { job = '', from = '', to = '', confirmed } = values;
  const known = await JobCatalog.of(guard);
  const periodic = known.periodicJob(job);
  const scope = values['scope'] || undefined;
  const range = { from: dateOf(dayOf(from, 'From')), to: dateOf(dayOf(to, 'To')), scope };
  const since = new Date(dayOf(range.from) * DAY_MS - 2 * DAY_MS);
  const { policy, expectation } = periodic;
  // An operator may also add days before the last change of the schedule.
  const anyTime = { policy, expectation: { schedule: expectation.schedule } };
  const gaps = await findGaps(known.context, anyTime, { scope: scope ?? fixedScopeOf(policy), from: since });
  const days = gaps.filter(({ businessDate }) => businessDate >= range.from && businessDate <= range.to);
  const items = days.map(({ key }) => key);
  if (items.length === 0)
    throw new InvalidLockUseError(`No business day from ${range.from} to ${range.to} lacks a run.`);
  const value = items.join(' ');
  if (confirmed !== value) return { text: `This adds ${items.length} runs:`, items, value };
  await backfill(known.context, periodic, range, by);
}

async function pause({ guard, by, values }: Act): Promise<Result> {
  const { job = '', for: duration = '', confirmed } = values;
  const known = await JobCatalog.of(guard);
  const lock = known.lockOf(job);
  const others = known.jobsOf(lock).filter((each) => each !== job);
  if (others.length > 0 && confirmed !== lock)
    return { text: 'These jobs have the same lock, so they are paused, too:', items: others, value: lock };
  await holdLock(guard, lock, duration, by);
}

async function holdLock(guard: JobGuard, lock: string, duration: string, by: Act['by']): Promise<void> {
  const ms = duration === '' ? 365 * DAY_MS - 60_000 : parsePositiveDuration(duration, 'For', 365);
  if (await guard.locks.hold(lock, { ...by, until: new Date(Date.now() + ms) })) return;
  const holder = (await guard.locks.inspect(lock))?.lockedBy ?? '';
  throw new InvalidLockUseError(
    `Lock '${lock}' is held by ${instanceOf(holder)}. Try again when it is free, or let cronlatch pause wait for it.`,
  );
}

/** A holder whose renewal is not late may still run, so its release needs a second answer. */
async function release({ guard, by, values: { lock = '', owner = '', confirmed } }: Act): Promise<Result> {
  const [state, lease] = [await guard.locks.inspect(lock), leaseOf(owner)];
  if (!state?.isHeld || leaseOf(state.lockedBy) !== lease)
    throw new InvalidLockUseError(`The holder of lock '${lock}' has changed. Load the page again.`);
  const known = await knownJobsOf(guard);
  const [job = '', ...others] = known?.jobsOf(lock) ?? [];
  const { life } = lifeOf(state, known?.get(job), known?.now ?? new Date());
  const mayLive = others.length > 0 || !mayBeDead(life);
  if (mayLive && isHeldByProcess(state) && !describeAhead(state) && confirmed !== lease)
    return {
      text: `${instanceOf(owner)} may still run: its renewal of the lock is not late. If you release the lock, a second copy can start beside it.`,
      value: lease,
    };
  if (!(await guard.locks.release(lock, { ...by, owner: state.lockedBy })))
    throw new InvalidLockUseError(`Lock '${lock}' was not released: its holder has changed.`);
}

async function endHold(guard: JobGuard, lock: string, by: Act['by']): Promise<void> {
  if (!(await guard.locks.unhold(lock, by)))
    throw new InvalidLockUseError(`No operator holds lock '${lock}'.`);
}
