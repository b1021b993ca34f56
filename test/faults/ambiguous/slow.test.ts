import assert from 'node:assert/strict';
import { sampleSize } from '../../support/sample-size';
import { testAmbiguous, type AmbiguousBench, type ProxiedProcess } from './ambiguous-bench';
import { LOCK_SAMPLES } from './lock-samples';
import { RUN_SAMPLES } from './run-samples';
import type { Sample } from './sample';
import type { Verdict } from './verdict';

const ALL = [...LOCK_SAMPLES, ...RUN_SAMPLES];

/** One way, so that an answer takes twice as long. A run waits for about ten, one after another: with 3 s, for longer than its lease. */
const LATENCIES: readonly { readonly ms: number; readonly samples: readonly Sample[] }[] = [
  { ms: 50, samples: ALL },
  { ms: 500, samples: ALL },
  { ms: 3000, samples: LOCK_SAMPLES },
].slice(0, sampleSize({ fast: 1, full: 3 }));

/** Its connections are open, and it knows the tables. */
async function warm({ provider, guard }: ProxiedProcess): Promise<void> {
  const [one, other] = ['one', 'other'].map((name) => provider.lock({ name, lockAtMostFor: '1m' }));
  for (const lock of [one, other]) await (await lock)?.unlock();
  await guard.ledger.list({});
}

async function judge(
  bench: AmbiguousBench,
  { what, judge: judgeSlow }: Sample,
  ms: number,
): Promise<Verdict> {
  const process = await bench.process({ statementTimeout: '20s' });
  await warm(process);
  process.proxy.delay(ms, { bytewise: true });
  const name = `${what} ${ms}`;
  return await judgeSlow({ ...process, operator: bench.operator, name, fault: () => () => {} });
}

/** It is held for longer than its lease was. */
async function keepAlive(bench: AmbiguousBench): Promise<void> {
  const process = await bench.process();
  await warm(process);
  process.proxy.delay(200);
  const leaseMs = 4000;
  const askedAtMs = performance.now();
  await new Promise<void>((resolve, reject) => {
    const configuration = { name: 'kept', lockAtMostFor: leaseMs, keepAlive: true } as const;
    const locking = process.provider.lock(configuration, {
      extended: () => performance.now() > askedAtMs + leaseMs + 500 && resolve(),
      lost: reject,
    });
    locking.catch(reject);
  });
}

for (const { ms, samples } of LATENCIES) {
  testAmbiguous(
    `F-42 with ${ms} ms each way, and bytes that come one by one, all is told as it is, and a keep-alive begins early enough`,
    async (bench) => {
      const [verdicts] = await Promise.all([
        Promise.all(samples.map((sample) => judge(bench, sample, ms))),
        keepAlive(bench),
      ]);
      assert.deepEqual(
        verdicts,
        samples.map(() => 'right'),
      );
    },
  );
}
