import assert from 'node:assert/strict';
import type { RunState } from 'cronlatch/provider';
import { STATE_CHANGES, type StateBefore } from '#cronlatch/ledger/run-state';
import type { Decision, FoundRun, RunStore } from '#cronlatch/ledger/run-store';
import { WithoutRegister } from '../../support/stores/without-register';

/**
 * A store that throws on every change that is not in the table of changes, and counts completions by
 * generation.
 */
export function watched(inner: RunStore, completions: Map<number, number>): RunStore {
  const completed = (generation: number): void => {
    const count = (completions.get(generation) ?? 0) + 1;
    completions.set(generation, count);
    assert.equal(count, 1, `generation ${generation} is completed ${count} times`);
  };
  return {
    ...new WithoutRegister(),
    async insert(run, options) {
      const inserted = await inner.insert(run, options);
      if (inserted) checkChange('absent', run.state);
      return inserted;
    },
    async change<T>(key: Parameters<RunStore['change']>[0], decide: Decide<T>, options: Options): Promise<T> {
      const seen: { found?: FoundRun | undefined; decision?: Decision<T> } = {};
      const value = await inner.change(
        key,
        (found) => {
          const decision = decide(found);
          Object.assign(seen, { found, decision });
          return decision;
        },
        options,
      );
      const { found, decision } = seen;
      if (decision?.write === undefined || found === undefined) return value;
      checkChange(found.run.state, decision.write.state);
      if (decision.write.state === 'completed') completed(decision.write.generation);
      return value;
    },
    async complete(claim, result, options) {
      const isCompleted = await inner.complete(claim, result, options);
      if (isCompleted) completed(claim.generation);
      return isCompleted;
    },
    registerJobs: (...call) => inner.registerJobs(...call),
    jobs: (...call) => inner.jobs(...call),
    peek: (...call) => inner.peek(...call),
    overdue: (...call) => inner.overdue(...call),
    find: (...call) => inner.find(...call),
    events: (...call) => inner.events(...call),
    purge: (...call) => inner.purge(...call),
  };
}

type Decide<T> = (found: FoundRun | undefined) => Decision<T>;
type Options = Parameters<RunStore['complete']>[2];

function checkChange(from: StateBefore, to: RunState): void {
  const isListed = STATE_CHANGES.some((change) => change.from.includes(from) && change.to.includes(to));
  assert.ok(isListed, `${from} → ${to} is not in the table of changes`);
}
