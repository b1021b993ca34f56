/** The library's source of time. Every component takes it as an option, so that a test can control it. */
export interface Clock {
  /** Milliseconds since some fixed moment. Never goes back. */
  monotonicMs(): number;
  /** Milliseconds since 1970 by the host's clock. May jump. */
  wallMs(): number;
  /** Calls back once, unless the returned function cancels the call. `keepAlive` keeps the process alive until then. */
  schedule(delayMs: number, callback: () => void, options: { keepAlive: boolean }): () => void;
}

/** The longest delay of a Node timer. Node fires longer ones at once. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  schedule(delayMs, callback, { keepAlive }) {
    let cancel = (): void => clearTimeout(timer);
    const stepMs = Math.min(Math.max(0, delayMs), LONGEST_TIMER_MS);
    const scheduleRest = (): void => {
      cancel = systemClock.schedule(delayMs - stepMs, callback, { keepAlive });
    };
    const timer = setTimeout(delayMs > stepMs ? scheduleRest : callback, stepMs);
    if (!keepAlive) timer.unref();
    return () => cancel();
  },
};

export interface Moment {
  readonly monotonicMs: number;
  readonly wallMs: number;
}

export function momentOf(clock: Clock): Moment {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.wallMs() };
}

/** Whether a time that a store wrote lies ahead of its clock, by more than 5 minutes, the default of `maxSkew`. */
export function isAhead(written: Date | undefined, now: Date | undefined): boolean {
  return Number(written) - Number(now) > 300_000;
}

/**
 * How far the wall clock may run ahead of the monotonic one, as a share of the lease. If it runs further ahead, the
 * machine was suspended or the clock was set, and it is unknown how much of the lease has passed.
 */
const LARGEST_JUMP = 1 / 10;

/**
 * How long a holder trusts its lease: for the length of the lease, from just before the statement was sent. The store
 * begins to count when the statement arrives, so that the holder's trust ends first.
 *
 * Elapsed time is taken from the clock that advanced further. The monotonic clock may stop while a machine is
 * suspended, and the wall clock may be set back. If the wall clock jumps ahead by more than a tenth of the lease, the
 * lease ends at once.
 */
export class Deadline {
  readonly #trustedMs: number;

  /** @param storeStepMs by how much a store may shorten a lease, because its clock has steps */
  constructor(
    readonly sentAt: Moment,
    private readonly leaseMs: number,
    storeStepMs = 0,
  ) {
    this.#trustedMs = leaseMs - storeStepMs;
  }

  /** The end on the monotonic clock, if the wall clock does not run ahead. */
  get monotonicMs(): number {
    return this.sentAt.monotonicMs + this.#trustedMs;
  }

  /** Zero or less once the lease has ended. */
  remainingMs(clock: Clock): number {
    const { monotonicMs, wallMs } = this.sentAt;
    return this.#trustedMs - Math.max(clock.monotonicMs() - monotonicMs, clock.wallMs() - wallMs);
  }

  /** Why the lease can no longer be trusted; `undefined` while it can. */
  expiryReason(clock: Clock): string | undefined {
    const elapsedMs = clock.monotonicMs() - this.sentAt.monotonicMs;
    const wallElapsedMs = clock.wallMs() - this.sentAt.wallMs;
    const aheadMs = wallElapsedMs - elapsedMs;
    if (elapsedMs < this.#trustedMs && aheadMs > this.leaseMs * LARGEST_JUMP)
      return `this machine was suspended, or its clock was set forward, by ${Math.round(aheadMs)} ms`;
    if (Math.max(elapsedMs, wallElapsedMs) < this.#trustedMs) return undefined;
    return `its lease of ${this.leaseMs} ms has expired`;
  }
}

/** Resolves after `delayMs`. Until then, the process stays alive. */
export function pause(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => clock.schedule(delayMs, resolve, { keepAlive: true }));
}

/** The delay before a failed statement is sent again: about 10 ms for attempt 0 or 1, then longer, with jitter. */
export function statementRetryDelayMs({ random }: { random: () => number }, attempt: number): number {
  return Math.min(1000, 10 * 2 ** attempt) * (0.5 + random());
}

/** Captured when this module loads, so that a test with fake timers does not block it. */
const nextTurn = setImmediate;

/** Settles like `promise`, or calls `onTimeout` after `limitMs`. Even with a limit of 0, a settled promise wins. */
function settleWithin<T, L>(
  clock: Clock,
  promise: Promise<T>,
  limitMs: number,
  onTimeout: (resolve: (value: L) => void, reject: (error: Error) => void) => void,
): Promise<T | L> {
  // Cheaper than Promise.race: every statement of every lock passes through here.
  return new Promise((resolve, reject) => {
    let cancel = (): void => {};
    const expire = (): void => onTimeout(resolve, reject);
    if (limitMs <= 0) nextTurn(expire);
    else cancel = clock.schedule(limitMs, expire, { keepAlive: true });
    promise.then(
      (value) => {
        cancel();
        resolve(value);
      },
      (error: Error) => {
        cancel();
        reject(error);
      },
    );
  });
}

/** Resolves to `'time-out'` if `promise` takes longer than `limitMs`. */
export function withinLimit<T>(clock: Clock, promise: Promise<T>, limitMs: number): Promise<T | 'time-out'> {
  return settleWithin<T, 'time-out'>(clock, promise, limitMs, (resolve) => resolve('time-out'));
}

/** Rejects with `error` if `promise` takes longer than `limitMs`. */
export function withinLimitOr<T>(
  clock: Clock,
  promise: Promise<T>,
  limitMs: number,
  error: () => Error,
): Promise<T> {
  return settleWithin<T, never>(clock, promise, limitMs, (_resolve, reject) => reject(error()));
}

/** For a `TZ` that is not the name of a zone, such as `UTC+5`, the zone with the same offset. `UTC` if there is none. */
export function hostTimeZone(): string {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions() as { readonly timeZone?: string };
  const hours = new Date().getTimezoneOffset() / 60; // West of UTC, as in the names of these zones.
  const hasZone = Number.isInteger(hours) && hours !== 0 && hours >= -14 && hours <= 12;
  return timeZone ?? (hasZone ? `Etc/GMT${hours > 0 ? '+' : ''}${hours}` : 'UTC');
}
