import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { AmbiguousBench } from './ambiguous-bench';
import type { Fault, Sample, Scene } from './sample';
import { Tally } from './verdict';

/** A fault without a broken connection takes the client's whole timeout each time. */
const SILENT_OF = 20;

export interface Trial {
  readonly times: number;
  /** Whether the reply is lost, so that the outcome is unknown, or the statement. */
  readonly lost: 'reply' | 'statement';
  /** The URL by which the library reaches the database. */
  readonly url?: string;
}

/** Runs each sample so many times, all at once, each in its own process; no result may be wrong. */
export async function trySamples(
  bench: AmbiguousBench,
  t: TestContext,
  samples: readonly Sample[],
  trial: Trial,
): Promise<void> {
  const trials: (() => Promise<Tally>)[] = [];
  for (const sample of samples) {
    const process = await bench.process({ url: trial.url });
    trials.push(() => tallyOf({ ...process, operator: bench.operator }, sample, trial));
  }
  const running = trials.map((each) => each());
  await Promise.allSettled(running); // All of them end before their processes are closed.
  const tallies = await Promise.all(running);
  const figures = samples.map(({ what }, index) => `${what}: ${String(tallies[index])}`);
  for (const figure of figures) t.diagnostic(`${bench.server}, ${trial.lost} lost, ${figure}`);
  for (const [index, tally] of tallies.entries()) assert.equal(tally.wrong, 0, figures[index]);
}

async function tallyOf(
  stage: Omit<Scene, 'name' | 'fault'>,
  { what, kind, judge }: Sample,
  { times, lost }: Trial,
): Promise<Tally> {
  const { proxy } = stage;
  const tally = new Tally();
  for (let index = 0; index < times; index += 1) {
    const then = index % SILENT_OF === 1 ? 'silence' : 'cut';
    const fault = (): Fault => {
      let hasHappened = false;
      const happens = lost === 'reply' ? proxy.swallow(kind, then) : proxy.lose(kind, then);
      void happens.then(() => (hasHappened = true));
      return (answer) => {
        if (hasHappened) return;
        throw 'error' in answer ? answer.error : new Error(`No ${kind} was sent.`);
      };
    };
    tally.count(await judge({ ...stage, name: `${what} ${index}`, fault }));
  }
  return tally;
}
