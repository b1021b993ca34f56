import assert from 'node:assert/strict';
import { currentRun, FatalJobError, JobGuard, type JobConfiguration, type TaskResult } from 'cronlatch';
import { signal } from '../../support/executor-bench';
import type { Instance, LedgerPlace } from '../../support/ledger-place';
import { LEASE, RETRY_DELAY, type Ending, type ModelClaim, type ModelPolicy } from './run-model';
import { watched } from './watched-store';

const MINUTE_MS = 60_000;

/** An attempt whose handler has not settled yet. */
export interface LostHolder {
  readonly claim: ModelClaim;
  /** Lets its handler settle. @returns what became of the call, and rejects as it does */
  comeBack(ending: 'completes' | 'throws'): Promise<TaskResult<unknown>>;
}

/** The real run of one period of one job, at a place that it may share with others. */
export class RunBench {
  readonly lost: LostHolder[] = [];
  /** Of each generation, how often it was completed. */
  readonly #completions = new Map<number, number>();
  readonly #started: ModelClaim[] = [];
  readonly #job: JobConfiguration;
  /** Of the registered job, and of all ticks. */
  readonly #asker: JobGuard;
  #ending: Exclude<Ending, 'is lost'> = 'completes';

  constructor(
    private readonly place: LedgerPlace,
    private readonly instance: Pick<Instance, 'lockProvider' | 'store'>,
    name: string,
    private readonly policy: ModelPolicy,
    /** The store's now, from which the model counts: on a server it goes on a little, whatever the test says. */
    private readonly origin: Date,
  ) {
    const { maxAttempts, onCrash, until } = policy;
    const retry = {
      ...{ maxAttempts, minDelay: `${RETRY_DELAY}m`, backoff: 1 },
      until: until === undefined ? undefined : `${until}m`,
    };
    this.#job = {
      ...{ name, lockAtMostFor: `${LEASE}m` },
      // One period without an end: the states are tried here, and not the dates.
      oncePer: { period: () => 'only', timeZone: 'UTC', retry, onCrash },
    };
    this.#asker = this.#guard();
    this.#asker.wrap(this.#job, this.#task);
  }

  /** Asks for the run by a tick. @returns the answer */
  async tick(ending: Exclude<Ending, 'is lost'>): Promise<ModelClaim | string> {
    this.#ending = ending;
    return await this.#attempted(this.#asker.run(this.#job, this.#task));
  }

  /** @returns whether an attempt was started */
  async runDue(ending: Exclude<Ending, 'is lost'>): Promise<boolean> {
    this.#ending = ending;
    const { started } = await this.#asker.runDue();
    return started === 1;
  }

  /** A tick in another process, which vanishes when its handler has begun. */
  async loseHolder(): Promise<ModelClaim | string> {
    const begun = signal<ModelClaim>();
    const end = signal();
    const result = this.#guard().run(this.#job, async () => {
      begun.resolve(this.#begin());
      await end.promise;
    });
    const answer = await Promise.race([begun.promise, result]);
    if ('executed' in answer) return await this.#attempted(result);
    result.catch(() => {}); // Whoever lets it come back hears of it.
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

  async elapse(minutes: number): Promise<void> {
    await this.place.elapse(`${minutes}m`);
  }

  get ledger(): JobGuard['ledger'] {
    return this.#asker.ledger;
  }

  get key(): { job: string; periodKey: string } {
    return { job: this.#job.name, periodKey: 'only' };
  }

  /** What stands in the row, if there is one. */
  async row(): Promise<object | undefined> {
    const rows = await this.ledger.list({ job: this.#job.name });
    assert.ok(rows.length <= 1, 'a period has one row');
    const [run] = rows;
    if (run === undefined) return undefined;
    const { state, generation, attempt, nextAttemptAt } = run;
    const dueAt = nextAttemptAt && Math.round((nextAttemptAt.getTime() - this.origin.getTime()) / MINUTE_MS);
    return { state, generation, attempt, dueAt };
  }

  /** Nothing is left behind: every handler settles. */
  async end(): Promise<void> {
    await Promise.allSettled(this.lost.map((holder) => holder.comeBack('completes')));
  }

  #guard(): JobGuard {
    const { lockProvider, store } = this.instance;
    return new JobGuard({
      ...{ lockProvider, runStore: watched(store, this.#completions), clock: this.place.clock },
      ...{ logger: false, dueEvery: false },
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

  /** An attempt begins: what must hold of any. */
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
    const answer = await result.catch(() => undefined); // The handler's own error: the row tells what came of it.
    const [claim] = this.#started.slice(before);
    if (claim !== undefined) return claim;
    assert.ok(answer !== undefined && !answer.executed, 'a call without a run says why');
    return answer.reason;
  }
}
