// More of this subject: core/lease, ledger/cases/claim-replies.test.ts, faults/storage/sql/lost-connections.test.ts, faults/integrations, chaos/simulation
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { ServerBench } from '../../support/benches/server';
import { sampleSize } from '../../support/checks/sample-size';
import { targetOf, tcpProxy, throughProxy } from '../../support/faults/tcp-proxy';
import { LOCK_SAMPLES } from './lock-samples';
import { proxiedProcess, testAmbiguous } from './proxied-process';
import { RUN_SAMPLES } from './run-samples';
import type { Fault, Sample, Scene, Verdict } from './sample';

const SAMPLES: readonly Sample[] = [...LOCK_SAMPLES, ...RUN_SAMPLES];

interface Trial {
  readonly times: number;
  /** Whether the reply is lost, so that the outcome is unknown, or the statement. */
  readonly lost: 'reply' | 'statement';
  /** The URL by which the library reaches the database. */
  readonly url?: string;
}

/** A fault without a broken connection takes the client's whole timeout each time. */
const SILENT_OF = 20;

/** Runs each sample so many times, all at once, each in its own process; no result may be wrong. */
async function trySamples(bench: ServerBench, t: TestContext, trial: Trial): Promise<void> {
  const stages = await Promise.all(SAMPLES.map(() => proxiedProcess(bench, { url: trial.url })));
  const running = SAMPLES.map((sample, index) =>
    verdictsOn({ ...stages[index]!, operator: bench.application }, sample, trial),
  );
  await Promise.allSettled(running); // All of them end before their processes are closed.
  for (const [index, verdicts] of (await Promise.all(running)).entries()) {
    const counts = (['right', 'wrong', 'unresolved'] as const).map(
      (verdict) => `${verdicts.filter((each) => each === verdict).length} ${verdict}`,
    );
    const figures = `${SAMPLES[index]?.what}: ${verdicts.length} lost, ${counts.join(', ')}`;
    t.diagnostic(`${bench.server}, ${trial.lost} lost, ${figures}`);
    assert.ok(!verdicts.includes('wrong'), figures);
  }
}

async function verdictsOn(
  stage: Omit<Scene, 'name' | 'fault'>,
  { what, kind, judge }: Sample,
  { times, lost }: Trial,
): Promise<Verdict[]> {
  const { proxy } = stage;
  const verdicts: Verdict[] = [];
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
    verdicts.push(await judge({ ...stage, name: `${what} ${index}`, fault }));
  }
  return verdicts;
}

for (const { lost, name, times } of [
  {
    lost: 'reply',
    name: 'for every lost reply, the reported result matches the database (F-39)',
    times: sampleSize({ fast: 10, full: 500 }),
  },
  {
    lost: 'statement',
    name: 'for every statement that is lost, with or without a broken connection, the reported result matches the database (F-38, F-40)',
    times: sampleSize({ fast: 4, full: 100 }),
  },
] as const)
  testAmbiguous(name, (bench, t) => trySamples(bench, t, { times, lost }));

/** Each name is as long as the name of the table that it replaces. */
const REPLICAS = { shedlock: 'replica1', cronlatch_run: 'replica_of_it' } as const;

testAmbiguous(
  'if plain reads go to a replica that lags behind, the primary decides after a lost reply (F-36)',
  async (bench, t) => {
    for (const [table, replica] of Object.entries(REPLICAS))
      await bench.application.query(
        `CREATE TABLE ${replica} ${bench.server === 'postgres' ? `(LIKE ${table} INCLUDING ALL)` : `LIKE ${table}`}`,
      );
    let diverted = 0;
    // Like the usual rules, it treats a locking read as a write. All other reads are of the empty tables.
    const interpret = () => ({
      fromClient(piece: Buffer): undefined {
        const text = piece.toString('latin1');
        if (!/SELECT\s/.test(text) || /INSERT|UPDATE|DELETE/.test(text)) return;
        for (const [table, replica] of Object.entries(REPLICAS)) {
          // The events have no replica; their table's name begins with the same letters.
          for (const { index } of text.matchAll(new RegExp(`\\b${table}\\b`, 'g'))) {
            piece.write(replica, index, 'latin1');
            diverted += 1;
          }
        }
      },
      fromServer: (bytes: Buffer) => ({ bytes }),
      rest: () => Buffer.alloc(0),
    });
    const splitter = bench.closeAtEnd(await tcpProxy(targetOf(bench.database.url), { interpret }));
    const url = throughProxy(bench.database.url, splitter);
    await trySamples(bench, t, { times: 3, lost: 'reply', url });
    assert.ok(diverted > 0);
  },
);
