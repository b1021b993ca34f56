/** How the command line and the dashboard show states and times. */
import type { LockState } from '../core';
import { isOwnName } from '../core/lock-name';
import { readHold } from '../core/lease/hold-owner';
import { instanceOf, isKept } from '../core/lease/owner';
import type { RunEvent, StoredAct } from '../ledger';
import { firstLines } from '../ledger/operator/state-of-run';
import type { JobOverview } from './overview';

export type Tone = 'red' | 'yellow' | 'green' | 'cyan' | 'dim';

/** So that no one needs the colours: each state of a run has a symbol of its own. */
const STATES: readonly (readonly [Tone, symbol: string, states: readonly string[]])[] = [
  ['red', '✗', ['failed', 'late', 'unreachable', 'unreadable', 'clock', 'stuck']],
  ['red', '!', ['interrupted']],
  ['red', '○', ['missed']],
  ['yellow', '‖', ['paused']],
  ['yellow', '◌', ['kept', 'due', 'pending']],
  ['cyan', '▶', ['running', 'held', 'in use']],
  ['green', '✓', ['ok', 'completed']],
];

/** The cell of a state: its symbol and its name, with its colour. */
export function stateCell(state: string): readonly [Tone, string] {
  const [style, symbol] = STATES.find(([, , states]) => states.includes(state)) ?? (['dim', '·'] as const);
  return [style, `${symbol} ${state}`];
}

/** With its holder: an operator and the reason, or else a host and a process. */
export function stateOfLock({ isHeld, lockedBy }: LockState): readonly [state: string, holder?: string] {
  if (!isHeld) return ['free'];
  const hold = readHold(lockedBy);
  if (hold !== undefined) return ['paused', `${hold.actor}: ${hold.reason}`];
  return [isKept(lockedBy) ? 'kept' : 'held', instanceOf(lockedBy)];
}

/** How an act of an operator ended, or what it waits for. */
export function stateOfAct({ state, expiresAt, leaseUntil, takenBy, outcome }: StoredAct, now: Date): string {
  const why = outcome === undefined ? '' : `: ${firstLines(outcome)}`;
  if (state === 'open') return `${expiresAt > now ? 'waiting' : 'expired'}${why}`;
  if (state !== 'taken') return `${state}${why}`;
  const isOver = leaseUntil !== undefined && leaseUntil <= now;
  return isOver ? 'not known whether it was done' : `taken by ${instanceOf(takenBy ?? '')}`;
}

/** What an act is about. */
export function subjectOfAct({ job, lock, scope, periodKey }: StoredAct): string {
  const what = job ?? (lock === undefined ? '' : `lock ${lock}`);
  return `${what}${scope && ` (${scope})`}${periodKey === undefined ? '' : ` ${periodKey}`}`;
}

/** What was done, and how it ended if it was not simply done. */
export function actText(act: StoredAct, now: Date): string {
  return act.state === 'done' ? act.verb : `${act.verb} ${stateOfAct(act, now)}`;
}

/** The acts on a run that its own history does not have, as its events. */
export function eventsBeside(events: readonly RunEvent[], acts: readonly StoredAct[], now: Date) {
  return acts
    .filter(
      ({ actor, reason }) =>
        !events.some((event) => event.actor === actor && event.detail?.startsWith(reason.slice(0, 200))),
    )
    .map((act) => ({ at: act.at, kind: actText(act, now), actor: act.actor, detail: act.reason }));
}

/** Without the jobs of cronlatch itself. */
export function answerOf(all: readonly JobOverview[]): string {
  const jobs = all.filter(({ job }) => !isOwnName(job));
  if (jobs.length === 0) return 'there are no jobs yet';
  const states = jobs.map(({ state }) => state);
  return `${countText(jobs.length, 'job')}: ${countsOf(states, ['ok', 'running', ...states]).join(', ')}`;
}

/** How many are in each of these states, as `2 failed`. */
export function countsOf(all: readonly string[], states: readonly string[]): string[] {
  const countOf = (state: string): number => all.filter((each) => each === state).length;
  return [...new Set(states)].filter(countOf).map((state) => `${countOf(state)} ${state}`);
}

export function countText(count: number, thing: string): string {
  return `${count} ${thing}${count === 1 ? '' : 's'}`;
}

/** Of the first run that has reported it. */
export function progressOf(running: JobOverview['running']): string {
  const { done, total } = running.find((run) => run.done !== undefined) ?? {};
  if (done === undefined) return '';
  return total ? ` ${Math.floor((100 * done) / total)} %` : ` ${done.toLocaleString('en')}`;
}
