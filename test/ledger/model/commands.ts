import assert from 'node:assert/strict';
import { ClaimLostError, InvalidLockUseError } from 'cronlatch';
import fc from 'fast-check';
import { BY } from '../../support/jobs/acts';
import type { RunBench } from './run-bench';
import type { Ending, RunModel } from './run-model';

type Command = fc.AsyncCommand<RunModel, RunBench>;

/** Applies the command to both; then the row must be what the model expects. */
function command(
  text: string,
  act: (model: RunModel, bench: RunBench) => Promise<void>,
  check: (model: Readonly<RunModel>) => boolean = () => true,
): Command {
  return {
    check,
    async run(model, bench) {
      await act(model, bench);
      assert.deepEqual(await bench.row(), rowOf(model), text);
    },
    toString: () => text,
  };
}

function rowOf({ row }: RunModel): object | undefined {
  if (row === undefined) return undefined;
  const { state, generation, attempt, dueAt } = row;
  return { state, generation, attempt, dueAt };
}

const endings = fc.constantFrom<Exclude<Ending, 'is stopped' | 'is lost'>[]>(
  ...(['completes', 'throws', 'throws', 'throws fatal', 'gives back', 'skips'] as const),
);

const tick = endings.map((ending) =>
  command(`a tick whose job ${ending}`, async (model, bench) => {
    const expected = model.ask();
    assert.deepEqual(await bench.tick(ending), expected);
    if (typeof expected !== 'string') model.end(expected, ending);
  }),
);

const runOverdue = endings.map((ending) =>
  command(`runOverdue, whose job ${ending}`, async (model, bench) => {
    const expected = model.isOverdue ? model.ask() : 'nothing overdue';
    assert.equal(await bench.runOverdue(ending), typeof expected !== 'string');
    if (typeof expected !== 'string') model.end(expected, ending);
  }),
);

const stopHolder = fc.constant(
  command('a tick whose guard closes and stops the job', async (model, bench) => {
    const expected = model.ask();
    assert.deepEqual(await bench.stopHolder(), expected);
    if (typeof expected !== 'string') model.end(expected, 'is stopped');
    // The next start must not seem to be the first: a store distinguishes the two by their times.
    model.now += 1;
    await bench.elapse(1);
  }),
);

const loseHolder = fc.constant(
  command('a tick whose holder crashes', async (model, bench) => {
    const expected = model.ask();
    assert.deepEqual(await bench.loseHolder(), expected);
    if (typeof expected !== 'string') model.end(expected, 'is lost');
  }),
);

const comeBack = fc
  .tuple(fc.nat(), fc.constantFrom('completes' as const, 'completes' as const, 'throws' as const))
  .map(([nth, ending]) =>
    command(`a crashed holder ${ending} after all`, async (model, bench) => {
      const [holder] = bench.lost.splice(nth % Math.max(1, bench.lost.length), 1);
      if (holder === undefined) return;
      const counts = model.comeBack(holder.claim, ending);
      const result = holder.comeBack(ending);
      if (ending === 'throws') await assert.rejects(result, /after all/);
      else if (counts) assert.equal((await result).executed, true);
      else await assert.rejects(result, ClaimLostError);
    }),
  );

const elapse = fc.integer({ min: 1, max: 15 }).map((minutes) =>
  command(`${minutes} minutes pass`, async (model, bench) => {
    model.now += minutes;
    await bench.elapse(minutes);
  }),
);

/** An operator's action succeeds if the model allows it, and is rejected otherwise. */
async function allowed(mayBeDone: boolean, act: Promise<unknown>): Promise<void> {
  if (mayBeDone) await act;
  else await assert.rejects(act, InvalidLockUseError);
}

const rerun = fc
  .boolean()
  .map((force) =>
    command(`rerun${force ? ' with force' : ''}`, async (model, bench) =>
      allowed(model.rerun(force), bench.operator.rerun(bench.subject, { ...BY, force })),
    ),
  );

const resolve = fc
  .constantFrom('completed' as const, 'failed' as const, 'pending' as const)
  .map((as) =>
    command(`resolve as ${as}`, async (model, bench) =>
      allowed(model.resolve(as), bench.operator.resolve(bench.subject, { ...BY, as })),
    ),
  );

const skip = fc.constant(
  command('skip', async (model, bench) => allowed(model.skip(), bench.operator.skip(bench.subject, BY))),
);

/** Some commands are more frequent, so that many runs make progress before an operator acts on them. */
export const commands = [
  tick,
  tick,
  runOverdue,
  stopHolder,
  loseHolder,
  loseHolder,
  comeBack,
  elapse,
  elapse,
  elapse,
].concat([rerun, resolve, skip]);
