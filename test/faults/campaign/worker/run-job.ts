import { setTimeout } from 'node:timers/promises';
import { currentRun, type JobGuard } from 'cronlatch';
import { inRunTransaction } from 'cronlatch/typeorm';
import type { DataSource } from 'typeorm';
import type { Random } from '#cronlatch/contracts/random';
import { machineMs } from '../../../processes/machine-time';
import { makeEffect } from '../../../support/databases/effects';
import type { Journal } from './journal';
import { isTransactional, keyOf, RUN_EVERY_MS, RUN_LEASE_MS } from './orders';

/** How many past runs a worker checks for completion. */
const WINDOW = 40;

/** Executes runs that must be completed once, and retries each until it is known to be completed. */
export class RunJob {
  readonly #completed = new Set<string>();

  constructor(
    private readonly guard: JobGuard,
    private readonly dataSource: DataSource,
    private readonly journal: Journal,
    private readonly random: Random,
    private readonly startMs: number,
  ) {}

  async attempt(): Promise<void> {
    const latest = Math.floor((machineMs() - this.startMs) / RUN_EVERY_MS);
    const key = keyOf(Math.max(0, latest - this.random.integer(0, WINDOW)));
    if (!this.#completed.has(key)) await this.complete(key);
  }

  /** @returns whether it is known to be completed */
  async complete(key: string): Promise<boolean> {
    const verdict = await this.#verdictOn(key);
    this.journal.write({ k: 'run', key, verdict });
    if (verdict === 'executed' || verdict === 'already-completed') this.#completed.add(key);
    return this.#completed.has(key);
  }

  async #verdictOn(key: string): Promise<string> {
    const job = {
      name: `lock-of-${key}`,
      lockAtMostFor: RUN_LEASE_MS,
      // With `at`, a call runs only its own key.
      at: new Date(),
      oncePer: {
        name: 'chaos',
        period: () => key,
        timeZone: 'UTC',
        retry: { maxAttempts: 1000, initialDelay: 0 },
      },
    };
    try {
      const result = await this.guard.run(job, () => this.#work(key));
      return result.executed ? 'executed' : result.reason;
    } catch (error) {
      return (error as Error).name;
    }
  }

  async #work(key: string): Promise<void> {
    const pauseMs = this.random.integer(0, 60);
    if (!isTransactional(key)) {
      await makeEffect(this.dataSource, currentRun());
      await setTimeout(pauseMs);
      return;
    }
    await inRunTransaction(async (manager) => {
      await makeEffect(manager, currentRun());
      await setTimeout(pauseMs);
    });
  }
}
