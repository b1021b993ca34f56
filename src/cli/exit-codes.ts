import type { SkipReason } from '../core';

/** The exit codes of a command, beside 1 for an error. */
export const EXIT = { done: 0, usage: 2, conflict: 4, problems: 5, stillDue: 75 } as const;

/** After these skips nothing is left to do, or only an operator can do it. After all others, a later call may succeed. */
export const EXIT_AFTER: { readonly [R in SkipReason]?: number } = {
  'already-completed': EXIT.done,
  skipped: EXIT.done,
  calendar: EXIT.done,
  deadline: EXIT.done,
  exhausted: 1,
  interrupted: 1,
};
