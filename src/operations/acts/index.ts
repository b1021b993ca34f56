import { InvalidLockConfigurationError, InvalidLockUseError, LockStorageError } from '../../core';
import { checkOptionNames, describeValue } from '../../core/options';
import type { JobGuard } from '../../guard';
import { ConflictError, type OperatorAct } from '../../ledger/operator/decide-act';
import { Desk, type Act, type ActResult, type Plan, type Values, type Verb } from './act';
import { forget, purge } from './jobs';
import { pause, release, resume } from './locks';
import { ActRecord } from './record';
import { rerun, resolve, run, skip } from './runs';

/** Of an operator's act, in the order of the help. */
export const ACTS: ReadonlyMap<string, Act> = new Map(
  [run, pause, resume, rerun, resolve, skip, release, forget, purge].map((act) => [act.verb, act]),
);

/** @throws InvalidLockUseError */
export function actOf(verb: string): Act {
  const act = ACTS.get(verb);
  if (act !== undefined) return act;
  throw new InvalidLockUseError(`There is no act '${verb}'.`);
}

interface PlannedAct extends Plan {
  readonly act: Act;
  readonly values: Values;
}

/** Of its values: what an act can be about, and its fields. */
function namesOf({ fields }: Act): string[] {
  return ['job', 'scope', 'period', 'lock', ...fields.map(({ name }) => name)];
}

/** Plans an act with the values of a command, a form or a method. Others that were given with them are left out. */
export async function planOf(
  act: Act,
  desk: Desk,
  given: Readonly<Record<string, unknown>>,
): Promise<PlannedAct> {
  const names = namesOf(act);
  const values: Values = Object.fromEntries(
    Object.entries(given).filter(
      ([name, value]) => names.includes(name) && value !== false && value !== undefined,
    ),
  ) as Values;
  for (const { name, kind, choices } of act.fields) {
    const value = values[name];
    if (value === undefined) continue;
    if (kind === 'flag' ? value !== true : typeof value !== 'string')
      throw new InvalidLockConfigurationError(
        `${name} is ${describeValue(value)}: pass ${kind === 'flag' ? 'true or false' : 'a text'}.`,
      );
    if (choices && !choices.includes(value as string)) refuseChoice(name, value, choices);
  }
  const missing = act.fields.find(({ name, required, choices }) => required && choices && !values[name]);
  if (missing) refuseChoice(missing.name, undefined, missing.choices ?? []);
  return { ...(await act.plan(desk, values)), act, values };
}

/** Does what was planned, and records it. */
export async function performed(desk: Desk, { act, values, ...plan }: PlannedAct): Promise<ActResult> {
  if (plan.nothing !== undefined) return { ...(await plan.perform()), text: plan.nothing, act: undefined };
  if (plan.about === undefined) return { text: act.done, act: undefined, ...(await plan.perform()) };
  const record = await ActRecord.begin(act, desk, { ...plan.about, values });
  try {
    const { text = act.done, ...result } = await plan.perform();
    await record.end('done');
    return { ...result, ...record.result(text) };
  } catch (error) {
    const isUnknown = error instanceof LockStorageError && error.outcome === 'unknown';
    const message = error instanceof Error ? error.message : String(error);
    if (isUnknown) record.stopRenewing();
    else await record.end(error instanceof ConflictError ? 'refused' : 'failed', message);
    if (!(error instanceof ConflictError)) throw error;
    throw new ConflictError(`${message}${await record.describeOther(plan.about)}`, { cause: error });
  }
}

function refuseChoice(name: string, value: unknown, choices: readonly string[]): never {
  throw new InvalidLockConfigurationError(`${name} is ${describeValue(value)}: use ${choices.join(', ')}.`);
}

/** A run. Without its period, the newest run of the job. Leave out the scope if the job has none. */
export interface RunSubject {
  readonly job: string;
  readonly scope?: string | undefined;
  readonly period?: string | undefined;
}

/** All jobs with the lock: that of a job, or one by its name. */
export type PauseSubject = { readonly job: string } | { readonly lock: string };

/**
 * What an operator can do. Each method resolves when the act is done. The commands and the forms of the dashboard do the same.
 *
 * @throws InvalidLockUseError if the act is not possible, or not in this state: nothing was changed
 * @throws InvalidLockConfigurationError for a missing actor or reason, an invalid value, and without a ledger
 * @throws LockStorageError if a store fails. The act may have been done.
 */
export interface ActMethods {
  /**
   * Asks an instance to run a job now. An instance starts it within `pollInterval`, by default a minute, if the lock, `enabled`
   * and the ledger allow that; if not, at a later check, until the request expires. The handler gets no arguments. If that
   * instance crashes, `onCrash` decides about the run of a once-per job. Any other run is not repeated.
   *
   * With `from` and `to`, business dates, it adds a pending run for each business day of the range that has none.
   *
   * @param how.within how long the request waits. Default 1 h, at most 7 days
   * @param how.force also adds runs before the first recorded one. Those periods may have been run and purged.
   * @param how.wait resolves when the request has ended, expired, or lost its instance: `ended` is the request then
   */
  run(
    of: RunSubject,
    how: OperatorAct & {
      readonly within?: string | undefined;
      readonly from?: string | undefined;
      readonly to?: string | undefined;
      readonly force?: boolean | undefined;
      readonly wait?: boolean | undefined;
    },
  ): Promise<ActResult>;
  /**
   * Reruns a run that failed permanently, was interrupted or was skipped. It becomes a new generation and is due at once.
   *
   * @param how.force also a completed run and a running one: its holder can no longer complete it
   */
  rerun(of: RunSubject, how: OperatorAct & { readonly force?: boolean | undefined }): Promise<ActResult>;
  /**
   * Records the outcome of an interrupted run. `'pending'` means that its work is not done: the next attempt is due
   * at once, if the job has one left.
   */
  resolve(
    of: RunSubject,
    how: OperatorAct & { readonly as: 'completed' | 'failed' | 'pending' },
  ): Promise<ActResult>;
  /** Skips a period, so that it has no run. The period has no row yet, or its run is pending, failed or interrupted. */
  skip(of: RunSubject & { readonly period: string }, how: OperatorAct): Promise<ActResult>;
  /**
   * Takes a lock, so that no instance runs its jobs until then, not even an instance of ShedLock for Java. Overdue runs start
   * afterwards. A job that is running is not interrupted: its lock cannot be paused before it ends. The pause outlives this
   * process.
   *
   * @param how.until an instant with its offset, or a duration such as `'2h'`, at most 365 days. Default: until `resume`, or
   * 365 days. The store counts the time that is left by this host's clock.
   */
  pause(of: PauseSubject, how: OperatorAct & { readonly until?: string | undefined }): Promise<ActResult>;
  /**
   * Ends a pause now.
   *
   * @param how.skip records the periods that were due during it as skipped
   */
  resume(of: PauseSubject, how: OperatorAct & { readonly skip?: boolean | undefined }): Promise<ActResult>;
  /**
   * Ends the lease of another holder now, even during its `lockAtLeastFor`. Another instance can then take the lock, with a
   * higher fencing token. The holder is not stopped: its signal aborts when its next renewal or extension finds the lock
   * lost, and without `keepAlive` only when its lease would have ended. So first make sure that it has stopped.
   *
   * @param of.owner releases only this holder: `lockedBy`, as last read. Default: the current holder
   */
  release(
    of: { readonly lock: string; readonly owner?: string | undefined },
    how: OperatorAct,
  ): Promise<ActResult>;
  /**
   * Removes a job from the register, so that it is not late any more: a job that your code no longer has. Its runs and
   * its lock stay. Refused if an instance has registered it within the last 15 minutes.
   */
  forget(of: { readonly job: string }, how: OperatorAct): Promise<ActResult>;
  /**
   * Deletes runs that have ended, with their history. Only runs older than `olderThan` are deleted, and only those
   * outside the catch-up window of every registered job. The newest run of each job and scope stays, and so does
   * every run that has not ended or that another transaction has locked. A purged period never counts as missed
   * afterwards. It also deletes newer runs of ticks, beyond the newest 1,000 of their job and scope.
   *
   * The purge uses short transactions, so that jobs can run meanwhile. A million runs take minutes. If the store keeps failing,
   * what was deleted before stays deleted.
   *
   * @param how.olderThan a duration up to `'36500d'`
   * @param how.locks deletes the records of locks instead that ended so long ago: those of crashed holders, and those that
   * `lockAtLeastFor` had kept. Only for a lock provider with `keepRows: false`, whose other records a release deletes.
   */
  purge(
    how: OperatorAct & { readonly olderThan: string; readonly locks?: boolean | undefined },
  ): Promise<ActResult>;
}

/** The methods of `operations(guard)`. */
export function actMethods(guard: JobGuard): ActMethods {
  const methodOf =
    (act: Act) =>
    async (...given: readonly object[]): Promise<ActResult> => {
      const values = Object.assign({}, ...given) as Record<string, unknown>;
      checkOptionNames(values, ['actor', 'reason', ...namesOf(act)], `operations(guard).${act.verb}`);
      const { actor, reason, ...others } = values as unknown as OperatorAct & Record<string, unknown>;
      const desk = new Desk(guard, { actor, reason });
      return await performed(desk, await planOf(act, desk, others));
    };
  const methods = [...ACTS].map(([verb, act]) => [verb, methodOf(act)]);
  return Object.fromEntries(methods) as Record<Verb, never>;
}
