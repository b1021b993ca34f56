import { AsyncLocalStorage } from 'node:async_hooks';
import { InvalidLockUseError, RunAlreadyCompletedError, type CurrentOptions, type Lock } from '../../core';
import { describeValue } from '../../core/options';
import { processState } from '../../core/process-state';
import type { Outcome } from './decide-outcome';
import type { LedgerContext } from '../store-statements';
import type { Period } from '../periods/period';
import { describeRun, type Claim, type RunKey } from '../run';
import type { RunOutput } from '../run-log-store';
import { storedText } from './stored-text';

/** The run of a handler, as `currentRun()` returns it. */
export interface CurrentRun {
  readonly job: string;
  readonly scope: string;
  /** `'YYYY-MM-DD'`. For a longer period, its first business date. */
  readonly businessDate: string;
  readonly periodKey: string;
  /** `undefined` for custom keys, like `periodEnd`. */
  readonly periodStart: Date | undefined;
  readonly periodEnd: Date | undefined;
  /** The scheduled time, if a tick with a scheduled time started this attempt. */
  readonly scheduledAt: Date | undefined;
  /** The number of the attempt in this generation: 1 for the first. */
  readonly attempt: number;
  /** How often an operator has rerun the run. */
  readonly generation: number;
  /** Whether the period lies before the one of a tick that comes now. */
  readonly isCatchUp: boolean;
  /** Aborts when the lease is lost, and when the closing guard asks its jobs to stop. */
  readonly signal: AbortSignal;
  readonly fencingToken: number | undefined;
  /**
   * `job/scope/period/generation`: the same for every attempt of this run, and different for every other run. Use it
   * for a receiver that must recognize repeated requests. A `/` within a part is `%2F`, and a `%` is `%25`.
   */
  readonly idempotencyKey: string;
  /**
   * Gives the run back, because nothing has been done yet and another attempt is to do it. When the handler settles,
   * the run is due at once, and this attempt does not count.
   *
   * @throws RunAlreadyCompletedError after `inRunTransaction`
   */
  giveBack(): void;
  /**
   * Skips the period. When the handler settles, the ledger records that the period has no run.
   *
   * @throws RunAlreadyCompletedError after `inRunTransaction`
   */
  skip(reason: string): void;
  /** Adds lines to the log that `keepLog` keeps, for a logger that does not write to `process.stdout`. */
  log(text: string): void;
  /**
   * Reports how far the work is, without waiting. `cronlatch status` and `operations(guard).overview()` show it while the run is
   * running. The store gets it at most once a second.
   *
   * @throws InvalidLockUseError unless `done`, and `total` if there is one, are whole numbers of at least 0
   */
  progress(done: number, total?: number): void;
}

export interface RunContextOptions {
  readonly claim: Claim;
  readonly period: Period;
  readonly scheduledAt: Date | undefined;
  readonly isCatchUp: boolean;
  readonly lock: Pick<Lock, 'signal' | 'fencingToken' | 'remainingMs'>;
  /** The ledger that keeps the run; `undefined` in a test without one. */
  readonly ledger: LedgerContext | undefined;
  readonly output?: RunOutput | undefined;
}

export class RunContext implements CurrentRun {
  readonly job: string;
  readonly scope: string;
  readonly periodKey: string;
  readonly generation: number;
  readonly attempt: number;
  readonly businessDate: string;
  readonly periodStart: Date | undefined;
  readonly periodEnd: Date | undefined;
  readonly scheduledAt: Date | undefined;
  readonly isCatchUp: boolean;
  readonly claim: Claim;
  readonly ledger: LedgerContext | undefined;
  readonly output: RunOutput | undefined;
  readonly #lock: RunContextOptions['lock'];
  /** The outcome that the handler has chosen with `giveBack()` or `skip()`. */
  decided: Exclude<Outcome, { kind: 'completed' | 'failed' }> | undefined;
  /** `'sent'`: the completion is part of a transaction that has not ended yet, as far as is known here. */
  completion: 'open' | 'sent' | 'committed' = 'open';
  isSettled = false;
  /** Why no transaction may complete the run any more, and no retry may repeat it. */
  refusal: InvalidLockUseError | undefined;

  constructor({ claim, period, scheduledAt, isCatchUp, lock, ledger, output }: RunContextOptions) {
    ({ job: this.job, scope: this.scope, periodKey: this.periodKey } = claim);
    ({ generation: this.generation, attempt: this.attempt } = claim);
    ({ businessDate: this.businessDate, start: this.periodStart, end: this.periodEnd } = period);
    this.scheduledAt = scheduledAt;
    this.isCatchUp = isCatchUp;
    this.claim = claim;
    this.ledger = ledger;
    this.output = output;
    this.#lock = lock;
  }

  get signal(): AbortSignal {
    return this.#lock.signal;
  }
  get fencingToken(): number | undefined {
    return this.#lock.fencingToken;
  }
  get idempotencyKey(): string {
    return idempotencyKeyOf(this);
  }

  giveBack(): void {
    this.#refuseIfEnded('giveBack()');
    this.decided = { kind: 'given-back' };
  }

  skip(reason: string): void {
    this.#refuseIfEnded('skip()');
    this.decided = { kind: 'skipped', reason: storedText(String(reason)) };
  }

  log(text: string): void {
    const line = String(text);
    this.output?.write(line.endsWith('\n') ? line : `${line}\n`);
  }

  progress(done: number, total?: number): void {
    for (const [name, value] of Object.entries({ done, total }))
      if (value !== undefined && !(Number.isSafeInteger(value) && value >= 0))
        throw new InvalidLockUseError(
          `progress() of job '${this.job}': ${name} is ${describeValue(value)}. Pass a whole number of at least 0.`,
        );
    this.output?.progress({ done, total });
  }

  isUnder(lock: Lock): boolean {
    return lock === this.#lock;
  }

  remainingMs(): number {
    return this.#lock.remainingMs();
  }

  /**
   * @throws RunAlreadyCompletedError for a second completion
   * @throws InvalidLockUseError if the handler has called `giveBack()` or `skip()`
   */
  beginCompletion(caller: string): void {
    this.#refuseIfEnded(caller);
    if (this.refusal !== undefined) throw this.refusal;
    if (this.decided !== undefined) {
      throw new InvalidLockUseError(
        `${caller}: ${describeRun(this)} cannot be completed, because its handler has declared it ${this.decided.kind}.`,
      );
    }
    this.completion = 'sent';
  }

  confirmCompletion(): void {
    this.completion = 'committed';
  }

  /** The transaction has ended. Unless its commit is confirmed, it had no effect. */
  endCompletion(): void {
    if (this.completion === 'sent') this.completion = 'open';
  }

  settle(): void {
    this.isSettled = true;
    this.output?.end();
  }

  #refuseIfEnded(caller: string): void {
    const run = describeRun(this);
    if (this.completion !== 'open')
      throw new RunAlreadyCompletedError(`${caller}: ${run} was already completed in a transaction.`);
    if (this.isSettled)
      throw new InvalidLockUseError(`${caller}: the handler of ${run} has already settled.`);
  }
}

export function idempotencyKeyOf(run: RunKey & { readonly generation: number }): string {
  // Other characters stay, because a retry after an upgrade must have the key of the attempt before it.
  const parts = [run.job, run.scope, run.periodKey].map((part) => part.replace(/[%/]/g, encodeURIComponent));
  return `${parts.join('/')}/${run.generation}`;
}

const storage = processState('run-context', () => new AsyncLocalStorage<RunContext | undefined>());

export function runAs<T>(context: RunContext | undefined, work: () => T): T {
  return storage.run(context, work);
}

/** The run that this code belongs to, even after its handler has settled. */
export function currentContext(): RunContext | undefined {
  return storage.getStore();
}

/** @throws InvalidLockUseError outside a run */
export function requiredContext(caller: string, hint = ''): RunContext {
  const context = currentContext();
  if (context !== undefined) return context;
  throw new InvalidLockUseError(
    `${caller} was called outside the run of a once-per job: call it from a handler with @OncePerDay, @OncePer or oncePer; in a test, inside asRun().${hint}`,
  );
}

/**
 * The run that this code belongs to.
 *
 * @throws InvalidLockUseError outside the run of a job that runs once per period, unless `optional` is set
 */
export function currentRun(options?: { readonly optional?: false | undefined }): CurrentRun;
export function currentRun(options: CurrentOptions): CurrentRun | undefined;
export function currentRun({ optional = false }: CurrentOptions = {}): CurrentRun | undefined {
  if (optional) return currentContext();
  const hint = ' If the code also runs elsewhere, call currentRun({ optional: true }).';
  return requiredContext('currentRun()', hint);
}
