/** How the command line and the dashboard show states and times. */
import type { LockState } from '../core';
import { isOwnName } from '../core/lock-name';
import { readHold } from '../core/lease/hold-owner';
import { instanceOf, isKept } from '../core/lease/owner';
import { describeDuration } from '../guard/log/time-texts';
import type { DeclaredJob, RunEvent, StoredAct } from '../ledger';
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

/** To the unit that counts: `42.5 s`, `12 min`, `1 h 10 min`. */
export function shortDuration(ms: number): string {
  return describeDuration(ms).replace(/ min \d+ s$/, ' min');
}

/** What the code of a job declares, in words. What it does not declare has no text. */
export function settingsOf(
  declared: DeclaredJob,
): readonly (readonly [name: string, text: string | false | undefined])[] {
  const { lock, kind, timeZone, dayStart, target, retry, onCrash, catchUp, scope } = declared;
  const { renewEveryMs, maxLockDurationMs, startDeadlineMs, lockAtLeastForMs } = declared;
  const time = (ms: number | undefined): string => (ms === undefined ? '' : shortDuration(ms));
  const period = kind === 'lock' ? 'only a lock' : kind === 'custom' ? 'by a key of its own' : `per ${kind}`;
  const waits =
    retry && retry.maxAttempts > 1 ? `, the second ${time(retry.initialDelayMs)} after a failure` : '';
  return [
    ['Runs', `${period}${timeZone ? `, in ${timeZone}` : ''}${dayStart ? `, from ${dayStart}` : ''}`],
    ['Period', target === 'previous' && 'the one before'],
    ['Lock', `${lock}${declared.hasNameFunction ? ' (its names depend on the arguments)' : ''}`],
    ['Locked', `at most ${time(declared.lockAtMostForMs)}, at least ${time(lockAtLeastForMs)}`],
    [
      'Renewed',
      renewEveryMs ? `every ${time(renewEveryMs)}, for at most ${time(maxLockDurationMs)}` : 'never',
    ],
    ['Attempts', retry && `${retry.maxAttempts}${waits}`],
    ['After a crash', onCrash && (onCrash === 'hold' ? 'an operator decides' : 'the run is repeated')],
    ['Catch-up', catchUp && `${catchUp.catchUp}, of the last ${time(catchUp.windowMs)}`],
    ['Starts', startDeadlineMs !== undefined && `at most ${time(startDeadlineMs)} late`],
    ['Days', declared.hasCalendar && 'by a calendar of its own'],
    ['Scope', declared.hasScopeFunction ? 'by a function' : scope],
    ['Enabled', declared.disabled && `no: disabled by its ${declared.disabled}`],
  ];
}
