import { InvalidLockUseError } from '../../core';
import { refuseOption } from '../../core/options';
import type { Run, RunEventKind } from '../run';
import { mayChange, type Actor, type RunState, type StateBefore } from '../run-state';
import { runEventOf, type Decision, type FoundRun } from '../run-store';
import { lostEventOf } from '../tick/decide-claim';
import { timeText } from './state-of-run';

/** Who acts, and why. */
export interface OperatorAct {
  /** The operator or the ticket: 1–128 characters. */
  readonly actor: string;
  /** 1–500 characters. It may have several lines. */
  readonly reason: string;
}

/** The state of a job, a run or a lock does not allow the act, or has changed meanwhile. */
export class ConflictError extends InvalidLockUseError {}

const LONGEST = { actor: 128, reason: 500 };

/** @throws InvalidLockConfigurationError if the actor or the reason is missing, too long, or not storable in every database */
export function checkAct(act: Partial<OperatorAct> = {}): void {
  for (const what of ['actor', 'reason'] as const) {
    const text: unknown = act[what];
    if (typeof text !== 'string' || text.trim() === '' || Array.from(text).length > LONGEST[what])
      refuseOption(what, text, `each act needs a text of 1 to ${LONGEST[what]} characters`);
    if (!text.isWellFormed() || /\p{Cc}/u.test(what === 'reason' ? text.replaceAll(/[\r\n\t]/g, '') : text))
      refuseOption(what, text, 'remove its control characters');
  }
}

export type ActVerdict =
  | { readonly kind: 'changed'; readonly run: Run }
  /** The state `from` does not allow the change. */
  | { readonly kind: 'refused'; readonly from: StateBefore };

/**
 * Reruns the period, as a new generation. Pure, like all `decide…` functions: the store locks the row, calls the
 * function, and writes its decision.
 */
export function decideRerun(
  found: FoundRun | undefined,
  { force = false, ...act }: OperatorAct & { readonly force?: boolean | undefined },
): Decision<ActVerdict> {
  return change(
    found,
    { act, by: force ? 'rerun with force' : 'rerun', to: 'pending', kind: 'rerun' },
    (run) => ({
      generation: run.generation + 1,
      attempt: 0,
      claimedBy: undefined,
      firstStartedAt: undefined,
      startedAt: undefined,
      finishedAt: undefined,
      result: undefined,
      error: undefined,
      reason: undefined,
    }),
  );
}

export function decideResolve(
  found: FoundRun | undefined,
  { as, ...act }: OperatorAct & { readonly as: 'completed' | 'failed' | 'pending' },
): Decision<ActVerdict> {
  return change(found, { act, by: 'resolve', to: as, kind: 'resolved' }, (_run, now) =>
    as === 'pending' ? { reason: undefined, finishedAt: undefined } : { reason: 'resolved', finishedAt: now },
  );
}

export function decideSkip(found: FoundRun | undefined, act: OperatorAct): Decision<ActVerdict> {
  return change(found, { act, by: 'skip', to: 'skipped', kind: 'skipped' }, (_run, now) => ({
    reason: 'operator',
    finishedAt: now,
  }));
}

function change(
  found: FoundRun | undefined,
  { act, by, to, kind }: { act: OperatorAct; by: Actor; to: RunState; kind: RunEventKind },
  set: (run: Run, now: Date) => Partial<Run>,
): Decision<ActVerdict> {
  const from = found?.run.state ?? 'absent';
  if (found === undefined || !mayChange(from, to, by)) return { value: { kind: 'refused', from } };
  const { run, now } = found;
  const nextAttemptAt = to === 'pending' ? now : undefined;
  const write: Run = { ...run, ...set(run, now), state: to, nextAttemptAt };
  const since = run.finishedAt === undefined ? '' : ` since ${timeText(run.finishedAt, run.timeZone)}`;
  // Contains the previous state, because the row does not keep it.
  const acted = runEventOf(run, kind, `${act.reason} (was ${from}${since})`, act.actor);
  const events =
    from === 'running'
      ? [lostEventOf(run, 'an operator ran it again, and its holder was not stopped'), acted]
      : [acted];
  return { value: { kind: 'changed', run: write }, write, events };
}
