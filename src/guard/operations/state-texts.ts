/** How the command line and the dashboard show states and times. */
import type { LockState } from '../../core';
import { isOwnName } from '../../core/lock-name';
import { readHold } from '../../core/lease/hold-owner';
import { instanceOf, isKept } from '../../core/lease/owner';
import type { JobOverview } from './overview';

export type Tone = 'red' | 'yellow' | 'green' | 'cyan' | 'dim';

/** So that no one needs the colours: each state of a run has a symbol of its own. */
const STATES: readonly (readonly [Tone, symbol: string, states: readonly string[]])[] = [
  ['red', '✗', ['failed', 'late', 'unreachable', 'unreadable', 'clock', 'stuck']],
  ['red', '!', ['interrupted']],
  ['red', '○', ['missed']],
  ['yellow', '‖', ['on hold', 'standby']],
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
  if (hold !== undefined) return ['on hold', `${hold.actor}: ${hold.reason}`];
  return [isKept(lockedBy) ? 'kept' : 'held', instanceOf(lockedBy)];
}

/** Without the jobs of cronlatch itself. */
export function answerOf(all: readonly JobOverview[]): string {
  const jobs = all.filter(({ job }) => !isOwnName(job));
  if (jobs.length === 0) return 'there are no jobs yet';
  const counts = new Map<string, number>(['ok', 'running'].map((state) => [state, 0] as const));
  for (const { state } of jobs) counts.set(state, (counts.get(state) ?? 0) + 1);
  const parts = [...counts].flatMap(([state, count]) => (count === 0 ? [] : `${count} ${state}`));
  return `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'}: ${parts.join(', ')}`;
}

/** Of the first run that has reported it. */
export function progressOf(running: JobOverview['running']): string {
  const { done, total } = running.find((run) => run.done !== undefined) ?? {};
  if (done === undefined) return '';
  return total ? ` ${Math.floor((100 * done) / total)} %` : ` ${done.toLocaleString('en')}`;
}
