import assert from 'node:assert/strict';
import type { ServerBench } from '../../support/benches/server';
import { sampleSize } from '../../support/checks/sample-size';
import { proxiedProcess, testAmbiguous, type ProxiedProcess } from './proxied-process';
import { LOCK_SAMPLES } from './lock-samples';
import { RUN_SAMPLES } from './run-samples';
import type { Sample, Verdict } from './sample';

const ALL = [...LOCK_SAMPLES, ...RUN_SAMPLES];

/**
 * The latency of one direction, so that an answer takes twice as long. A run needs about ten answers in
 * sequence: with 3 s, that is longer than its lease.
 */
const LATENCIES: readonly { readonly ms: number; readonly samples: readonly Sample[] }[] = [
  { ms: 50, samples: ALL },
  { ms: 500, samples: ALL },
  { ms: 3000, samples: LOCK_SAMPLES },
].slice(0, sampleSize({ fast: 1, full: 3 }));

/** Opens its connections, and reads the tables' definitions. */
async function warm({ provider, guard }: ProxiedProcess): Promise<void> {
  const [one, other] = ['one', 'other'].map((name) => provider.lock({ name, lockAtMostFor: '1m' }));
  for (const lock of [one, other]) await (await lock)?.unlock();
  await guard.ledger.list({});
}

async function judge(bench: ServerBench, { what, judge: judgeSlow }: Sample, ms: number): Promise<Verdict> {
  const process = await proxiedProcess(bench, { statementTimeout: '20s' });
  await warm(process);
  process.proxy.delay(ms, { bytewise: true });
  const name = `${what} ${ms}`;
  return await judgeSlow({ ...process, operator: bench.application, name, fault: () => () => {} });
}

/** Holds a lock for longer than its first lease. */
async function keepAlive(bench: ServerBench): Promise<void> {
  const process = await proxiedProcess(bench);
  await warm(process);
  process.proxy.delay(200);
  const leaseMs = 4000;
  const sentAtMs = performance.now();
  await new Promise<void>((resolve, reject) => {
    const configuration = { name: 'kept', lockAtMostFor: leaseMs, keepAlive: true } as const;
    const locking = process.provider.lock(configuration, {
      extended: () => performance.now() > sentAtMs + leaseMs + 500 && resolve(),
      lost: reject,
    });
    locking.catch(reject);
  });
}

for (const { ms, samples } of LATENCIES) {
  testAmbiguous(
    `with ${ms} ms in each direction, and bytes that arrive one by one, every result is reported correctly, and keepAlive renews early enough (F-42)`,
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
