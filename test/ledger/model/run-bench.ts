import assert from 'node:assert/strict';
import { once } from 'node:events';
import { currentRun, FatalJobError, type JobGuard, type JobConfiguration, type TaskResult } from 'cronlatch';
import { operations, type Operations } from 'cronlatch/operations';
import { signal } from '../../support/benches/executor';
import type { Instance, LedgerPlace } from '../../support/stores/ledger-place';
import { LEASE, RETRY_DELAY, type Ending, type ModelClaim, type ModelPolicy } from './run-model';
import { watched } from './watched-store';
import { newGuard } from '../../support/benches/guard-with-runs';

const MINUTE_MS = 60_000;

/** The endings of a handler whose guard stays. */
type JobEnding = Exclude<Ending, 'is stopped' | 'is lost'>;

/** An attempt whose handler has not settled yet. */
export interface LostHolder {
  readonly claim: ModelClaim;
  /** Settles its handler. @returns the result of the call, and rejects as the call does */
  comeBack(ending: 'completes' | 'throws'): Promise<TaskResult<unknown>>;
}

/** The real run of one period of one job, in a store that it may share with other jobs. */
export class RunBench {
  readonly lost: LostHolder[] = [];
  /** The number of completions by generation. */
  readonly #completions = new Map<number, number>();
  readonly #started: ModelClaim[] = [];
  readonly #job: JobConfiguration;
  /** The guard of the registered job, which runs all ticks. */
  readonly #guard: JobGuard;
  #ending: JobEnding = 'completes';

  constructor(
    private readonly place: LedgerPlace,
    private readonly instance: Pick<Instance, 'lockProvider' | 'store'>,
    name: string,
    private readonly policy: ModelPolicy,
    /** The store's time, from which the model counts: on a server it advances a little on its own. */
    private readonly origin: Date,
  ) {
    const { maxAttempts, onCrash, until } = policy;
    const retry = {
      ...{ maxAttempts, initialDelay: `${RETRY_DELAY}m`, factor: 1 },
      until: until === undefined ? undefined : `${until}m`,
    };
    this.#job = {
      ...{ name, lockAtMostFor: `${LEASE}m` },
      // One period without an end: this tests states, not dates.
      oncePer: { period: () => 'only', timeZone: 'UTC', retry, onCrash },
    };
    this.#guard = this.#newGuard();
    this.#guard.wrap(this.#job, this.#task);
  }

  /** Calls the job as a tick does. @returns the result */
  async tick(ending: JobEnding): Promise<ModelClaim | string> {
    this.#ending = ending;
    return await this.#attempted(this.#guard.run(this.#job, this.#task));
  }

  /** @returns whether an attempt was started */
  async runOverdue(ending: JobEnding): Promise<boolean> {
    this.#ending = ending;
    const { started } = await this.#guard.runOverdue();
    return started === 1;
  }

  /** A tick in another process, which crashes after its handler has started. */
  async loseHolder(): Promise<ModelClaim | string> {
    const begun = signal<ModelClaim>();
    const end = signal();
    const result = this.#newGuard().run(this.#job, async () => {
      begun.resolve(this.#begin());
      await end.promise;
    });
    const answer = await Promise.race([begun.promise, result]);
    if ('executed' in answer) return await this.#attempted(result);
    result.catch(() => {}); // The caller of `comeBack` gets the error.
    this.lost.push({
      claim: answer,
      comeBack: (ending) => {
        if (ending === 'completes') end.resolve();
        else end.reject(new Error('after all'));
        return result;
      },
    });
    return answer;
  }

  /** A tick in another process, which closes its guard meanwhile. Its handler rejects with the abort. */
  async stopHolder(): Promise<ModelClaim | string> {
    const guard = this.#newGuard();
    const result = guard.run(this.#job, async ({ signal: stopped }) => {
      this.#begin();
      void guard.close({ timeout: '1m', grace: '1m' });
      await once(stopped, 'abort');
      stopped.throwIfAborted();
    });
    return await this.#attempted(result);
  }

  async elapse(minutes: number): Promise<void> {
    await this.place.elapse(`${minutes}m`);
  }

  get operator(): Operations {
    return operations(this.#guard);
  }

  get subject(): { job: string; period: string } {
    return { job: this.#job.name, period: 'only' };
  }

  /** The contents of the row, if it exists. */
  async row(): Promise<object | undefined> {
    const rows = await this.#guard.ledger.list({ job: this.#job.name });
    assert.ok(rows.length <= 1, 'a period has one row');
    const [run] = rows;
    if (run === undefined) return undefined;
    const { state, generation, attempt, nextAttemptAt } = run;
    const dueAt = nextAttemptAt && Math.round((nextAttemptAt.getTime() - this.origin.getTime()) / MINUTE_MS);
    return { state, generation, attempt, dueAt };
  }

  /** Settles every handler, so that nothing is left behind. */
  async end(): Promise<void> {
    await Promise.allSettled(this.lost.map((holder) => holder.comeBack('completes')));
  }

  #newGuard(): JobGuard {
    const { lockProvider, store } = this.instance;
    return newGuard({
      ...{ lockProvider, runStore: watched(store, this.#completions), clock: this.place.clock },
      ...{ logger: false, pollInterval: false },
    });
  }

  readonly #task = (): void => {
    this.#begin();
    const run = currentRun();
    switch (this.#ending) {
      case 'completes':
        return;
      case 'throws':
        throw new Error('no bank today');
      case 'throws fatal':
        throw new FatalJobError('no bank ever');
      case 'gives back':
        return run.giveBack();
      case 'skips':
        return run.skip('no bank');
    }
  };

  /** Starts an attempt, and checks what must hold for all attempts. */
  #begin(): ModelClaim {
    const { generation, attempt } = currentRun();
    assert.ok(attempt <= this.policy.maxAttempts, `attempt ${attempt} of ${this.policy.maxAttempts}`);
    assert.equal(this.#completions.get(generation), undefined, `generation ${generation} was completed`);
    const claim = { generation, attempt };
    this.#started.push(claim);
    return claim;
  }

  async #attempted(result: Promise<TaskResult<unknown>>): Promise<ModelClaim | string> {
    const before = this.#started.length;
    const answer = await result.catch(() => undefined); // The handler's own error: the test reads the outcome from the row.
    const [claim] = this.#started.slice(before);
    if (claim !== undefined) return claim;
    assert.ok(answer !== undefined && !answer.executed, 'a call without a run has a reason');
    return answer.reason;
  }
}
