import type { Run } from '#cronlatch/ledger/run';
import type { RunState } from '#cronlatch/ledger/run-state';
import { CLAIM, pending } from './runs';
import type { TestedStore } from './tested-store';

/** The rows of `oneOfEach` that are overdue, and the others. */
export const OVERDUE = ['failed', 'pending', 'running'];
export const NOT_OVERDUE = ['completed', 'failed permanently', 'interrupted', 'skipped'];

/**
 * One row for each state, named after it, and one that `failed permanently`.
 *
 * @param options.scoped each row in a scope of the same name
 */
export async function oneOfEach(store: TestedStore, { scoped = false } = {}): Promise<void> {
  const attempted = { attempt: 1, claimedBy: CLAIM.claimedBy };
  const notDue = { nextAttemptAt: undefined };
  const rows: Readonly<Record<RunState | 'failed permanently', Partial<Run>>> = {
    pending: {},
    running: { ...attempted, ...notDue, state: 'running' },
    completed: { ...notDue, state: 'completed' },
    failed: { ...attempted, state: 'failed' },
    interrupted: { ...attempted, ...notDue, state: 'interrupted' },
    skipped: { ...notDue, state: 'skipped' },
    'failed permanently': { ...notDue, state: 'failed' },
  };
  for (const [name, edit] of Object.entries(rows))
    await store.insertedAs(pending(name, scoped ? { scope: name } : {}), edit);
}
