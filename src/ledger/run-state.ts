/** The state of a run's row. A period without a row has none of these. */
export type RunState = 'pending' | 'running' | 'completed' | 'failed' | 'interrupted' | 'skipped';

export type StateBefore = 'absent' | RunState;

export type Actor =
  /** The holder of the lock, to start the run. */
  | 'claim'
  | 'claim with onCrash retry'
  | 'claim with onCrash hold'
  | 'catch-up'
  | 'calendar'
  /** A tick that comes after `startDeadline`. */
  | 'deadline'
  | 'holder'
  | 'rerun'
  | 'rerun with force'
  | 'resolve'
  | 'skip';

export interface StateChange {
  readonly from: readonly StateBefore[];
  readonly to: readonly RunState[];
  readonly by: readonly Actor[];
  /** The caller of `mayChange` checks it. */
  readonly condition: string;
}

/** Every change of a run's state. `mayChange` checks operators' acts against it, and tests the `decide…` functions. */
export const STATE_CHANGES: readonly StateChange[] = [
  { from: ['absent'], to: ['running'], by: ['claim'], condition: 'the unique key decides' },
  { from: ['absent'], to: ['pending'], by: ['catch-up'], condition: 'a duplicate is ignored' },
  {
    from: ['absent'],
    to: ['skipped'],
    by: ['catch-up', 'calendar', 'deadline'],
    condition: 'a duplicate is ignored',
  },
  {
    from: ['pending', 'failed'],
    to: ['running'],
    by: ['claim'],
    condition: 'due, and attempts, until and startDeadline allow it',
  },
  {
    from: ['pending', 'failed'],
    to: ['failed'],
    by: ['claim'],
    condition: 'due, and attempts or until are spent',
  },
  {
    from: ['pending'],
    to: ['skipped'],
    by: ['claim'],
    condition: 'due, and startDeadline has passed before the first attempt',
  },
  {
    from: ['running'],
    to: ['running'],
    by: ['claim with onCrash retry'],
    condition: 'the old holder is gone, and attempts and until allow it',
  },
  {
    from: ['running'],
    to: ['failed'],
    by: ['claim with onCrash retry'],
    condition: 'the old holder is gone, and attempts or until are spent',
  },
  {
    from: ['running'],
    to: ['interrupted'],
    by: ['claim with onCrash hold'],
    condition: 'the old holder is gone',
  },
  {
    from: ['running'],
    // 'pending': given back, before any effect or to a closing guard, so that the attempt does not count.
    to: ['completed', 'failed', 'skipped', 'pending'],
    by: ['holder'],
    condition: 'claim, generation and attempt match',
  },
  {
    // The holder had not crashed after all, and no other holder can have started the run since.
    from: ['interrupted'],
    to: ['completed'],
    by: ['holder'],
    condition: 'claim, generation and attempt match',
  },
  {
    from: ['failed', 'interrupted', 'skipped'],
    to: ['pending'],
    by: ['rerun', 'rerun with force'],
    condition: 'actor and reason are given',
  },
  {
    from: ['completed', 'running'],
    to: ['pending'],
    by: ['rerun with force'],
    condition: 'actor and reason are given',
  },
  {
    from: ['interrupted'],
    to: ['completed', 'failed', 'pending'],
    by: ['resolve'],
    condition: 'actor and reason are given',
  },
  {
    from: ['absent', 'pending', 'failed', 'interrupted'],
    to: ['skipped'],
    by: ['skip'],
    condition: 'actor and reason are given',
  },
];

export const RUN_STATES: readonly RunState[] = [...new Set(STATE_CHANGES.flatMap(({ to }) => to))];

/** Whether the table has this change. The caller checks its condition. */
export function mayChange(from: StateBefore, to: RunState, by: Actor): boolean {
  return STATE_CHANGES.some(
    (change) => change.from.includes(from) && change.to.includes(to) && change.by.includes(by),
  );
}
