import assert from 'node:assert/strict';
import { Random } from '#cronlatch/contracts/random';
import type { Lock } from 'cronlatch';
import { sampleSize } from '../../support/checks/sample-size';
import type { SqlProxy } from '../../support/faults/sql-proxy/sql-proxy';
import { proxiedProcess, testAmbiguous, type ProxiedProcess } from './proxied-process';

const LENGTH_MS = sampleSize({ fast: 4000, full: 30_000 });
const HOLD_MS = 20;

/** Records who holds the lock at a time. */
class Witness {
  readonly #working = new Set<Lock>();
  readonly #tokens: number[] = [];
  overlaps = 0;

  get grants(): number {
    return this.#tokens.length;
  }

  get tokensRise(): boolean {
    return this.#tokens.every((token, index) => index === 0 || token > (this.#tokens[index - 1] ?? 0));
  }

  async work(lock: Lock): Promise<void> {
    for (const other of this.#working) if (other.remainingMs() > 0) this.overlaps += 1;
    this.#working.add(lock);
    this.#tokens.push(lock.fencingToken ?? 0);
    await passed(HOLD_MS);
    this.#working.delete(lock);
  }
}

function passed(milliseconds: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, milliseconds));
}

/** Most faults are shorter than a statement's limit, some are longer. */
async function flap(proxy: SqlProxy, random: Random, endsAtMs: number): Promise<void> {
  while (performance.now() < endsAtMs) {
    const fault = random.pick(['to-server', 'to-client', 'both', 'cut'] as const);
    if (fault === 'cut') proxy.cut();
    else proxy.stall(fault);
    await passed(random.pick([20, 50, 100, 900]));
    proxy.flow();
    await passed(random.integer(50, 300));
  }
}

async function compete({ provider }: ProxiedProcess, witness: Witness, endsAtMs: number): Promise<number> {
  let errors = 0;
  while (performance.now() < endsAtMs) {
    try {
      const lock = await provider.lock({ name: 'job', lockAtMostFor: '2s' });
      if (lock === undefined) continue;
      await witness.work(lock);
      await lock.unlock();
    } catch {
      errors += 1; // The outcome is unknown, or nothing was sent: another holder continues, or the lease expires.
    }
  }
  return errors;
}

testAmbiguous(
  'two holders whose connections fail in one direction, again and again, never overlap (F-43)',
  async (bench, t) => {
    const seed = Date.now() % 1_000_000;
    const random = new Random(seed);
    const witness = new Witness();
    const processes = [await proxiedProcess(bench), await proxiedProcess(bench)];
    const endsAtMs = performance.now() + LENGTH_MS;
    const [errors] = await Promise.all([
      Promise.all(processes.map((process) => compete(process, witness, endsAtMs))),
      ...processes.map(({ proxy }) => flap(proxy, random, endsAtMs)),
    ]);
    t.diagnostic(
      `${bench.server}, seed ${seed}: ${witness.grants} grants, ${errors.join(' and ')} errors, ${witness.overlaps} overlaps`,
    );
    assert.equal(witness.overlaps, 0, `seed ${seed}`);
    assert.ok(witness.tokensRise, `seed ${seed}`);
    assert.ok(witness.grants > 0);
  },
);
