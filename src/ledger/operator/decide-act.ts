import { InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/describe-value';
import type { Run, RunEventKind } from '../run';
import { mayChange, type Actor, type RunState, type StateBefore } from '../run-state';
import type { Decision, FoundRun, NewRunEvent } from '../run-store';
import { isSlot } from '../slots/slot';
import { lostEventOf } from '../tick/decide-claim';

/** Who changes a run by hand, and why: kept in the history of the run. */
export interface OperatorAct {
  /** A person or a ticket: 1–200 characters. */
  readonly actor: string;
  /** 1–2,000 characters. */
  readonly reason: string;
}

/** @throws InvalidLockUseError for what nobody could answer for later, and what not every database keeps */
export function checkAct({ actor, reason }: Partial<OperatorAct> = {}): void {
  checkText('actor', actor, 200);
  checkText('reason', reason, 2000);
}

function checkText(what: string, text: unknown, longest: number): void {
  if (typeof text === 'string' && text.trim() !== '' && Array.from(text).length <= longest) {
    if (!text.includes('\0') && text.isWellFormed()) return;
    throw new InvalidLockUseError(
      `${what} is ${describeValue(text)}: it contains U+0000 or half a surrogate pair, which not every database keeps. Remove it.`,
    );
  }
  throw new InvalidLockUseError(
    `${what} is ${describeValue(text)}: an operator's act says who did it and why, in 1 to ${longest} characters.`,
  );
}

export type ActVerdict =
  | { readonly kind: 'changed'; readonly run: Run }
  /** Not from this state; `isSlot`: nor from any, because nobody would run it. */
  | { readonly kind: 'refused'; readonly from: StateBefore; readonly isSlot?: true };

/** The period is run again, as another generation. Pure, like the others: the store locks the row, asks, and writes. */
export function decideRerun(
  found: FoundRun | undefined,
  { force = false, ...act }: OperatorAct & { readonly force?: boolean | undefined },
): Decision<ActVerdict> {
  return change(
    found,
    { act, by: force ? 'rerun with force' : 'rerun', to: 'pending', kind: 'rerun' },
    (run) => ({
      ...{ generation: run.generation + 1, attempt: 0 },
      ...{ claimedBy: undefined, firstStartedAt: undefined, startedAt: undefined, finishedAt: undefined },
      ...{ result: undefined, error: undefined, reason: undefined },
    }),
  );
}

/** A person says what became of a run whose holder vanished. */
export function decideResolve(
  found: FoundRun | undefined,
  { as, ...act }: OperatorAct & { readonly as: 'completed' | 'failed' | 'pending' },
): Decision<ActVerdict> {
  return change(found, { act, by: 'resolve', to: as, kind: 'resolved' }, (_run, now) =>
    as === 'pending' ? { reason: undefined, finishedAt: undefined } : { reason: 'resolved', finishedAt: now },
  );
}

/** The period is to have no run. */
export function decideSkip(found: FoundRun | undefined, act: OperatorAct): Decision<ActVerdict> {
  return change(found, { act, by: 'skip', to: 'skipped', kind: 'skipped' }, (_run, now) => ({
    reason: 'operator',
    finishedAt: now,
  }));
}

interface Change {
  readonly act: OperatorAct;
  readonly by: Actor;
  readonly to: RunState;
  readonly kind: RunEventKind;
}

function change(
  found: FoundRun | undefined,
  { act, by, to, kind }: Change,
  set: (run: Run, now: Date) => Partial<Run>,
): Decision<ActVerdict> {
  const from = found?.run.state ?? 'absent';
  if (found === undefined || !mayChange(from, to, by)) return { value: { kind: 'refused', from } };
  const { run, now } = found;
  if (to === 'pending' && isSlot(run)) return { value: { kind: 'refused', from, isSlot: true } };
  const nextAttemptAt = to === 'pending' ? now : undefined;
  const write: Run = { ...run, ...set(run, now), state: to, nextAttemptAt };
  const events = [...(from === 'running' ? [lostEventOf(run)] : []), actEventOf(run, kind, act)];
  return { value: { kind: 'changed', run: write }, write, events };
}

/** With what stood there before: the row does not keep it. */
function actEventOf(run: Run, kind: RunEventKind, { actor, reason }: OperatorAct): NewRunEvent {
  const { generation, attempt, fencingToken, state, finishedAt } = run;
  const since = finishedAt === undefined ? '' : ` since ${finishedAt.toISOString()}`;
  return { generation, attempt, kind, actor, fencingToken, detail: `${reason} (was ${state}${since})` };
}
