import { AsyncLocalStorage } from 'node:async_hooks';
import { InvalidLockUseError, RunAlreadyCompletedError, type Lock } from '../../core';
import { processState } from '../../core/process-state';
import type { Outcome } from './decide-outcome';
import type { LedgerContext } from '../store-statements';
import type { Period } from '../periods/period';
import { describeRun, type Claim } from '../run';
import { storedText } from './stored-text';

/** What a handler can know of the run that it is. */
export interface CurrentRun {
  readonly job: string;
  readonly scope: string;
  /** `'YYYY-MM-DD'`: of a longer period, its first. */
  readonly businessDate: string;
  readonly periodKey: string;
  /** `undefined`, like the end, for custom keys. */
  readonly periodStart: Date | undefined;
  readonly periodEnd: Date | undefined;
  /** The instant that the scheduler meant; `undefined` where the run was brought back. */
  readonly scheduledAt: Date | undefined;
  /** 1 for the first. Of this generation. */
  readonly attempt: number;
  /** How often an operator has had the run made again. */
  readonly generation: number;
  /** The period lies before the one that a tick now would belong to. */
  readonly isCatchUp: boolean;
  /** Aborts when the lease is lost, and when the guard closes and asks its jobs to stop. */
  readonly signal: AbortSignal;
  readonly fencingToken: number | undefined;
  /**
   * `job/scope/period/generation`: the same for every attempt, and for no other run. For whoever must recognise a
   * repeated request. A `/` within a part is `%2F`, and a `%` is `%25`.
   */
  readonly idempotencyKey: string;
  /**
   * Nothing has been done yet, and somebody else is to do it: when the handler settles, the attempt is refunded and the
   * run is due at once.
   *
   * @throws RunAlreadyCompletedError after `inRunTransaction`
   */
  giveBack(): void;
  /**
   * The period is to have no run: when the handler settles, that is recorded.
   *
   * @throws RunAlreadyCompletedError after `inRunTransaction`
   */
  skip(reason: string): void;
}

export interface RunContextOptions {
  readonly claim: Claim;
  readonly period: Period;
  readonly scheduledAt: Date | undefined;
  readonly isCatchUp: boolean;
  readonly lock: Pick<Lock, 'signal' | 'fencingToken' | 'remainingMs'>;
  /** Of the ledger that keeps the run; `undefined` in a test that only pretends. */
  readonly ledger: LedgerContext | undefined;
}

/** A run from inside, until its handler has settled. */
export class RunContext implements CurrentRun {
  readonly claim: Claim;
  readonly ledger: LedgerContext | undefined;
  readonly #options: RunContextOptions;
  #decided: Exclude<Outcome, { kind: 'completed' | 'failed' }> | undefined;
  /** `'sent'`: inside a transaction whose end is not known here. */
  #completion: 'open' | 'sent' | 'committed' = 'open';
  #settled = false;

  constructor(options: RunContextOptions) {
    this.#options = options;
    this.claim = options.claim;
    this.ledger = options.ledger;
  }

  get job(): string {
    return this.claim.job;
  }
  get scope(): string {
    return this.claim.scope;
  }
  get periodKey(): string {
    return this.claim.periodKey;
  }
  get attempt(): number {
    return this.claim.attempt;
  }
  get generation(): number {
    return this.claim.generation;
  }
  get businessDate(): string {
    return this.#options.period.businessDate;
  }
  get periodStart(): Date | undefined {
    return this.#options.period.start;
  }
  get periodEnd(): Date | undefined {
    return this.#options.period.end;
  }
  get scheduledAt(): Date | undefined {
    return this.#options.scheduledAt;
  }
  get isCatchUp(): boolean {
    return this.#options.isCatchUp;
  }
  get signal(): AbortSignal {
    return this.#options.lock.signal;
  }
  get fencingToken(): number | undefined {
    return this.#options.lock.fencingToken;
  }
  get idempotencyKey(): string {
    const parts = [this.job, this.scope, this.periodKey].map(withoutSlashes);
    return `${parts.join('/')}/${this.generation}`;
  }

  giveBack(): void {
    this.#refuseIfOver('giveBack()');
    this.#decided = { kind: 'given-back' };
  }

  skip(reason: string): void {
    this.#refuseIfOver('skip()');
    this.#decided = { kind: 'skipped', reason: storedText(String(reason)) };
  }

  isUnder(lock: Lock): boolean {
    return lock === this.#options.lock;
  }

  /** How long the attempt's lease can be trusted. */
  remainingMs(): number {
    return this.#options.lock.remainingMs();
  }

  /** What the handler has said about its own end. */
  get decided(): Exclude<Outcome, { kind: 'completed' | 'failed' }> | undefined {
    return this.#decided;
  }

  get completion(): 'open' | 'sent' | 'committed' {
    return this.#completion;
  }

  /**
   * @throws RunAlreadyCompletedError for a second completion
   * @throws InvalidLockUseError when the handler has said that it does not complete the run
   */
  beginCompletion(caller: string): void {
    this.#refuseIfOver(caller);
    if (this.#decided !== undefined) {
      throw new InvalidLockUseError(
        `${caller}: ${describeRun(this)} is ${this.#decided.kind} as its handler has said, and cannot be completed as well.`,
      );
    }
    this.#completion = 'sent';
  }

  confirmCompletion(): void {
    this.#completion = 'committed';
  }

  /** The transaction is over; unless it is confirmed, nothing of it has happened. */
  endCompletion(): void {
    if (this.#completion === 'sent') this.#completion = 'open';
  }

  settle(): void {
    this.#settled = true;
  }

  get isSettled(): boolean {
    return this.#settled;
  }

  #refuseIfOver(caller: string): void {
    const run = describeRun(this);
    if (this.#completion !== 'open')
      throw new RunAlreadyCompletedError(`${caller}: ${run} was completed in a transaction already.`);
    if (this.#settled) throw new InvalidLockUseError(`${caller}: the handler of ${run} has settled already.`);
  }
}

/** Other characters stay: a retry after an upgrade must have the key of the attempt before it. */
function withoutSlashes(part: string): string {
  return part.replace(/[%/]/g, encodeURIComponent);
}

const storage = processState('run-context', () => new AsyncLocalStorage<RunContext | undefined>());

export function runAs<T>(context: RunContext | undefined, work: () => T): T {
  return storage.run(context, work);
}

/** The run that this code belongs to, also when its handler has settled meanwhile. */
export function currentContext(): RunContext | undefined {
  return storage.getStore();
}

/** @throws InvalidLockUseError outside a run */
export function requiredContext(caller: string): RunContext {
  const context = currentContext();
  if (context !== undefined) return context;
  throw new InvalidLockUseError(
    `${caller} was called outside the run of a once-per job: call it from a handler with @OncePerDay, @OncePer or oncePer; in a test, inside asRun().`,
  );
}

/**
 * The run that this code belongs to.
 *
 * @throws InvalidLockUseError outside the run of a job that runs once per period
 */
export function currentRun(): CurrentRun {
  return requiredContext('currentRun()');
}
