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

/**
 * Every change of a run's state. `mayChange` checks operators' acts against it, and tests the `decide…` functions. The
 * callers check the conditions in the comments.
 */
export const STATE_CHANGES: readonly {
  readonly from: readonly StateBefore[];
  readonly to: readonly RunState[];
  readonly by: readonly Actor[];
}[] = [
  // The unique key decides. A duplicate is ignored.
  { from: ['absent'], to: ['running'], by: ['claim'] },
  { from: ['absent'], to: ['pending'], by: ['catch-up'] },
  { from: ['absent'], to: ['skipped'], by: ['catch-up', 'calendar', 'deadline'] },
  // It is due. `failed`: its attempts or `until` are spent. `skipped`: `startDeadline` has passed.
  { from: ['pending', 'failed'], to: ['running', 'failed'], by: ['claim'] },
  { from: ['pending'], to: ['skipped'], by: ['claim'] },
  // The old holder is gone. `failed`: attempts or `until` are spent.
  { from: ['running'], to: ['running', 'failed'], by: ['claim with onCrash retry'] },
  { from: ['running'], to: ['interrupted'], by: ['claim with onCrash hold'] },
  // Claim, generation and attempt match. `pending`: given back, before any effect or to a closing guard, so that the
  // attempt does not count.
  { from: ['running'], to: ['completed', 'failed', 'skipped', 'pending'], by: ['holder'] },
  // The holder had not crashed after all, and no other holder can have started the run since.
  { from: ['interrupted'], to: ['completed'], by: ['holder'] },
  // The operator and the reason are given.
  { from: ['failed', 'interrupted', 'skipped'], to: ['pending'], by: ['rerun', 'rerun with force'] },
  { from: ['completed', 'running'], to: ['pending'], by: ['rerun with force'] },
  { from: ['interrupted'], to: ['completed', 'failed', 'pending'], by: ['resolve'] },
  { from: ['absent', 'pending', 'failed', 'interrupted'], to: ['skipped'], by: ['skip'] },
];

export const RUN_STATES: readonly RunState[] = [...new Set(STATE_CHANGES.flatMap(({ to }) => to))];

/** Whether the table has this change. The caller checks its condition. */
export function mayChange(from: StateBefore, to: RunState, by: Actor): boolean {
  return STATE_CHANGES.some(
    (change) => change.from.includes(from) && change.to.includes(to) && change.by.includes(by),
  );
}
