import { Deadline, type Moment } from '../clock';
import { parsePositiveDuration, type Duration } from '../duration';
import { LockLostError, LockStorageError } from '../errors';
import { LeaseOwner } from './owner';
import type { Lock, LockObserver } from '../lock';
import type { LockTerms } from '../lock-configuration';
import type { Grant } from './storage-accessor';
import { extendUntil, unlockUntil, type SentGrant, type StatementContext } from './statements';

/** What a lock depends on besides its deadline. */
export interface LeaseGuard {
  /** Why the lock can no longer be trusted, although its deadline has not passed. */
  expiryReason(): string | undefined;
  /** Called once, when the lease is lost. Must not throw. */
  onLost(): void;
}

export interface LeaseOptions extends StatementContext {
  readonly terms: LockTerms;
  readonly owner: string;
  readonly observer: LockObserver;
  /** Called when the release was written or abandoned. */
  readonly onReleased?: () => void;
  /** For a lock that the store does not end by itself. */
  readonly guard?: LeaseGuard;
}

export class Lease implements Lock {
  readonly #options: LeaseOptions;
  readonly #granted: SentGrant;
  readonly #owner: LeaseOwner;
  /** Its signal is read only for the handler: Node takes microseconds to create it. */
  readonly #loss = new AbortController();
  #isLost = false;
  readonly #holdUntilMs: number;
  /** Also the length of the next renewal, so that a renewal does not undo a manual extension. */
  #leaseMs: number;
  #deadline: Deadline;
  #extended = false;
  #failedRenewals = 0;
  #release: Promise<boolean> | undefined;
  /** Statements of one lease never overtake one another. */
  #lastStatement: Promise<unknown> = Promise.resolve();
  #cancelDeadline = (): void => {};
  #cancelRenewal = (): void => {};
  readonly #stopRenewing = (): void => this.#cancelRenewal();

  constructor(options: LeaseOptions, grant: Grant, sentAt: Moment) {
    this.#options = options;
    this.#granted = { grant, sentAt };
    this.#owner = new LeaseOwner(options.owner);
    this.#leaseMs = options.terms.lockAtMostForMs;
    this.#deadline = this.#deadlineOf(sentAt, this.#leaseMs);
    this.#holdUntilMs = sentAt.monotonicMs + options.terms.maxLockDurationMs;
    this.#watchDeadline();
    if (options.terms.renewEveryMs === undefined) return;
    this.#planRenewal();
    options.observer.abandonedSignal?.().addEventListener('abort', this.#stopRenewing);
  }

  get name(): string {
    return this.#options.terms.name;
  }

  get fencingToken(): number | undefined {
    this.#checkDeadline();
    return this.#granted.grant.fencingToken;
  }

  get signal(): AbortSignal {
    this.#checkDeadline();
    return this.#loss.signal;
  }

  get isLost(): boolean {
    return !this.#checkDeadline();
  }

  remainingMs(): number {
    if (this.#release !== undefined || !this.#checkDeadline()) return 0;
    return Math.max(0, this.#deadline.remainingMs(this.#options.clock));
  }

  async extend(lockAtMostFor: Duration): Promise<boolean> {
    const leaseMs = parsePositiveDuration(lockAtMostFor, `the extension of lock '${this.name}'`);
    return await this.#inOrder(() => this.#extend(leaseMs, 'until-deadline'));
  }

  unlock(): Promise<boolean> {
    if (this.#release === undefined) {
      const live = this.#checkDeadline();
      this.#cancelTimers();
      this.#release = this.#inOrder(() => this.#unlock(live));
    }
    return this.#release;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.unlock();
  }

  /**
   * Releases a lease that was granted too late to work under it, and throws a LockStorageError.
   *
   * @param basis what can be lost before the deadline, for the error
   * @param startedAtMs when the lock was requested
   */
  async orRelease(basis: string, startedAtMs: number): Promise<Lease> {
    const waitedMs = this.#options.clock.monotonicMs() - startedAtMs;
    const remedy = `, or ${basis} was lost meanwhile, so it was released.`;
    const lateness = latenessOf(this.#deadline, this.#options, { waitedMs, remedy, isLost: this.isLost });
    if (lateness === undefined) return this;
    await this.unlock();
    throw new LockStorageError(`Lock '${this.name}' was granted too late: ${lateness}`);
  }

  /** The store has ended the lock. Has no effect after a release. */
  lose(reason: string): void {
    if (this.#release === undefined) this.#lose(reason);
  }

  /** @returns whether the lease can be trusted now. After a stall, this check aborts it before anything else happens. */
  #checkDeadline(): boolean {
    if (this.#release !== undefined || this.#isLost) return !this.#isLost;
    const { clock, guard } = this.#options;
    const reason = this.#deadline.expiryReason(clock) ?? guard?.expiryReason();
    if (reason !== undefined) this.#lose(reason);
    return reason === undefined;
  }

  #lose(reason: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#cancelTimers();
    const error = new LockLostError(`Lock '${this.name}' was lost while its job was running: ${reason}.`);
    this.#loss.abort(error);
    this.#options.guard?.onLost();
    this.#options.observer.lost?.(error);
  }

  #cancelTimers(): void {
    this.#cancelDeadline();
    this.#cancelRenewal();
    if (this.#options.terms.renewEveryMs === undefined) return;
    this.#options.observer.abandonedSignal?.().removeEventListener('abort', this.#stopRenewing);
  }

  async #extend(leaseMs: number, persistence: 'until-deadline' | 'once'): Promise<boolean> {
    if (this.#release !== undefined || !this.#checkDeadline()) return false;
    const { terms, observer } = this.#options;
    const answer = await extendUntil(this.#options, {
      terms,
      owner: this.#owner,
      leaseMs,
      giveUpAtMs: () => (persistence === 'once' ? 0 : this.#deadline.monotonicMs),
      onSending: (sentAt) => this.#expectExtension(this.#deadlineOf(sentAt, leaseMs)),
    });
    if (answer === undefined) {
      this.#lose('its record no longer belongs to this process');
      return false;
    }
    this.#leaseMs = leaseMs;
    this.#deadline = this.#deadlineOf(answer.sentAt, leaseMs);
    this.#failedRenewals = 0;
    if (!this.#checkDeadline()) return false;
    observer.extended?.(leaseMs);
    if (this.#release === undefined) {
      this.#watchDeadline();
      this.#planRenewal();
    }
    return true;
  }

  /** The extension may take effect even if its answer is lost. So the earlier end counts from its sending on. */
  #expectExtension(deadline: Deadline): void {
    const { clock } = this.#options;
    this.#extended = true;
    if (deadline.remainingMs(clock) >= this.#deadline.remainingMs(clock)) return;
    this.#deadline = deadline;
    if (this.#release === undefined) this.#watchDeadline();
  }

  async #unlock(live: boolean): Promise<boolean> {
    const { terms, observer, onReleased, guard } = this.#options;
    const { lockAtMostForMs, lockAtLeastForMs } = terms;
    const expiresAnyway = lockAtLeastForMs === lockAtMostForMs && !this.#extended && guard === undefined;
    try {
      if (expiresAnyway) return live;
      return await unlockUntil(this.#options, {
        terms,
        owner: this.#owner,
        wasLive: live,
        granted: live && guard === undefined ? this.#granted : undefined,
        giveUpAtMs: () => (observer.abandonedSignal?.().aborted ? 0 : this.#deadline.monotonicMs),
      });
    } finally {
      onReleased?.();
    }
  }

  #deadlineOf(sentAt: Moment, leaseMs: number): Deadline {
    return new Deadline(sentAt, leaseMs, this.#options.accessor.clockStepMs);
  }

  #inOrder<T>(statement: () => Promise<T>): Promise<T> {
    const result = this.#lastStatement.then(statement);
    // The caller gets the error; the chain only waits for the end. A release that nothing waits for must not end the process.
    this.#lastStatement = result.catch(() => undefined);
    return result;
  }

  #watchDeadline(): void {
    const { clock } = this.#options;
    this.#cancelDeadline();
    const inMs = this.#deadline.monotonicMs - clock.monotonicMs();
    // A timer may fire a little early by the monotonic clock. Then it is set again.
    const onTime = (): void => void (this.#checkDeadline() && this.#watchDeadline());
    this.#cancelDeadline = clock.schedule(Math.ceil(inMs), onTime, { keepAlive: false });
  }

  #planRenewal(): void {
    const { clock, terms, observer } = this.#options;
    this.#cancelRenewal();
    if (terms.renewEveryMs === undefined || observer.abandonedSignal?.().aborted) return;
    const plan = planRenewal({
      nowMs: clock.monotonicMs(),
      confirmedAtMs: this.#deadline.sentAt.monotonicMs,
      failuresSince: this.#failedRenewals,
      renewEveryMs: terms.renewEveryMs * Math.min(1, this.#leaseMs / terms.lockAtMostForMs),
      deadlineMs: this.#deadline.monotonicMs,
      holdUntilMs: this.#holdUntilMs,
    });
    if (plan.action === 'stop') return;
    this.#cancelRenewal = clock.schedule(plan.inMs, () => void this.#inOrder(() => this.#renew()), {
      keepAlive: false,
    });
  }

  /** Never rejects. A failed renewal becomes a warning, and is retried until the deadline. */
  async #renew(): Promise<void> {
    const { clock, observer } = this.#options;
    const leaseMs = Math.min(this.#leaseMs, this.#holdUntilMs - clock.monotonicMs());
    if (leaseMs <= 0) return;
    try {
      await this.#extend(leaseMs, 'once');
    } catch (error) {
      this.#failedRenewals += 1;
      observer.warning?.(
        `Lock '${this.name}' could not be renewed. cronlatch retries until the lease ends.`,
        error,
      );
      if (this.#release === undefined && this.#checkDeadline()) this.#planRenewal();
    }
  }
}

/** A check of a connection takes less time, and does not count as a wait. */
const SHORTEST_WAIT_MS = 500;

/**
 * Why a lock was granted too late for its job. Without renewals, the job needs a quarter of the lease. Later than
 * `lockAtLeastFor` after the tick, another instance may have run it already. A tick that was that late before it requested
 * the lock runs, unless it has also waited.
 *
 * @param grant.waitedMs from the request until the store evaluated the statement that was granted
 * @param grant.remedy if too little of the lease is left
 */
export function latenessOf(
  deadline: Deadline,
  { terms, clock, accessor, observer }: LeaseOptions,
  grant: { readonly waitedMs: number; readonly remedy: string; readonly isLost?: boolean },
): string | undefined {
  const { waitedMs, remedy, isLost = deadline.expiryReason(clock) !== undefined } = grant;
  const { lockAtMostForMs, lockAtLeastForMs, renewEveryMs } = terms;
  const remainingMs = deadline.remainingMs(clock);
  if (isLost || remainingMs <= (renewEveryMs === undefined ? lockAtMostForMs / 4 : 0))
    return `only ${Math.max(0, Math.round(remainingMs))} ms of its ${lockAtMostForMs} ms were left${remedy}`;
  const { tickLateByMs = accessor.waitsForNodes ? 0 : undefined } = observer;
  if (tickLateByMs === undefined || lockAtLeastForMs === 0) return undefined;
  const leftMs = lockAtLeastForMs - tickLateByMs;
  if (waitedMs <= (leftMs > 0 ? leftMs : SHORTEST_WAIT_MS)) return undefined;
  return `after ${Math.round(tickLateByMs + waitedMs)} ms, longer than its lockAtLeastFor of ${lockAtLeastForMs} ms. Another instance may have run the job while this one waited, so it was released. Set a longer lockAtLeastFor.`;
}

export interface RenewalState {
  readonly nowMs: number;
  /** When the statement that last gave or renewed the lease was sent. */
  readonly confirmedAtMs: number;
  readonly failuresSince: number;
  readonly renewEveryMs: number;
  readonly deadlineMs: number;
  /** The lease is never renewed past this moment. */
  readonly holdUntilMs: number;
}

/** The delay after the first failed renewal, as a share of the interval. It doubles each time, up to the interval. */
const FIRST_RETRY_SHARE = 1 / 10;

/** Decides when to renew next. All times are on the monotonic clock. Pure: the lease sets the timer. */
export function planRenewal(
  state: RenewalState,
): { readonly action: 'renew'; readonly inMs: number } | { readonly action: 'stop' } {
  const { nowMs, confirmedAtMs, failuresSince, renewEveryMs, deadlineMs, holdUntilMs } = state;
  const dueMs =
    failuresSince === 0
      ? confirmedAtMs + renewEveryMs
      : nowMs + Math.min(renewEveryMs, renewEveryMs * FIRST_RETRY_SHARE * 2 ** (failuresSince - 1));
  if (dueMs >= deadlineMs || deadlineMs >= holdUntilMs) return { action: 'stop' };
  return { action: 'renew', inMs: Math.max(0, dueMs - nowMs) };
}
