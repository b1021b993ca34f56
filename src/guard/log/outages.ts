import {
  LockStorageError,
  SchemaMismatchError,
  type Clock,
  type EventHub,
  type EventName,
  type LockProvider,
  type TickEvent,
} from '../../core';
import { withinLimit } from '../../core/clock';
import { describeError } from './logger';
import { describeDuration } from './time-texts';

/** The events of statements that have failed. A job that fails is another matter, also if its own statement did. */
const FAILURES = ['lock:failed', 'lock:releaseFailed', 'guard:warning'] as const;
const PROBE_TIMEOUT_MS = 1000;
const FIRST_PROBE_MS = 1000;
const NEXT_PROBE_MS = 5000;
const WARN_EVERY_MS = 60_000;

/** From the first failure of the store until it answers a probe. */
interface Outage {
  /** The event of the first failure. */
  readonly first: object;
  readonly sinceMs: number;
  /** When the last warning was emitted. `undefined` until a probe has failed, because one statement can fail alone. */
  warnedAtMs?: number;
  /** Lines that wait for the first probe. */
  readonly waiting: ((isRepeat: boolean) => void)[];
  /** The jobs of the ticks that did not run, and how many of them. */
  readonly lostTicks: Map<string, number>;
  readonly retried: WeakSet<object>;
  retriedTicks: number;
}

/**
 * Detects when the store of the locks stops answering, so that the log has one warning of it a minute instead of a line
 * for each statement that fails. After a failure it sends probes, which change no lock, until the store answers.
 */
export class Outages {
  #current: Outage | undefined;
  #cancelProbe: (() => void) | undefined;
  #hasStopped = false;

  /** @param options.store its name, for the log */
  constructor(
    private readonly options: {
      readonly lockProvider: LockProvider;
      readonly clock: Clock;
      readonly events: EventHub;
      readonly store: () => string;
    },
  ) {
    const { events } = options;
    for (const name of FAILURES) events.on(name, (event) => this.#begin(event));
    events.on('lock:failed', ({ willRetry, error }) => {
      if (willRetry && isOfStore(error)) this.#current?.retried.add(error);
    });
    events.on('tick', (event) => this.#countLostTick(event));
  }

  #countLostTick({ outcome, error, name, job = name }: TickEvent): void {
    const current = this.#current;
    if (current === undefined || outcome !== 'lock-failed' || !isOfStore(error)) return;
    current.lostTicks.set(job, (current.lostTicks.get(job) ?? 0) + 1);
    if (current.retried.has(error)) current.retriedTicks += 1;
  }

  /** Writes the line of an event: at once, or when a probe shows whether it repeats what the log has already. */
  write(name: EventName, event: object, write: (isRepeat: boolean) => void): void {
    const { first, warnedAtMs, waiting } = this.#current ?? {};
    const isHeld = FAILURES.some((each) => each === name) && isFailure(event) && event !== first;
    if (!isHeld || waiting === undefined) write(false);
    else if (warnedAtMs === undefined) waiting.push(write);
    else write(true);
  }

  /** Sends no more probes. Lines that wait are written. */
  stop(): void {
    this.#hasStopped = true;
    this.#cancelProbe?.();
    this.#end();
  }

  #begin(event: object): void {
    const { lockProvider, clock } = this.options;
    if (this.#current !== undefined || this.#hasStopped || !isFailure(event)) return;
    if (lockProvider.probe === undefined) return;
    const counts = { lostTicks: new Map<string, number>(), retried: new WeakSet(), retriedTicks: 0 };
    this.#current = { first: event, sinceMs: clock.monotonicMs(), waiting: [], ...counts };
    // Without the process, the lines that wait would be lost.
    this.#probeIn(FIRST_PROBE_MS, { keepAlive: true });
  }

  #probeIn(delayMs: number, options: { readonly keepAlive: boolean }): void {
    this.#cancelProbe = this.options.clock.schedule(delayMs, () => void this.#probe(), options);
  }

  async #probe(): Promise<void> {
    const failure = await this.#askStore();
    const current = this.#current;
    if (current === undefined || this.#hasStopped) return;
    if (failure === undefined) return this.#end();
    this.#warn(current, failure);
    this.#probeIn(NEXT_PROBE_MS, { keepAlive: false });
  }

  /** @returns why the store does not answer */
  async #askStore(): Promise<string | undefined> {
    const { lockProvider, clock } = this.options;
    try {
      const probe = Promise.resolve(lockProvider.probe?.(PROBE_TIMEOUT_MS));
      const answer = await withinLimit(clock, probe, 2 * PROBE_TIMEOUT_MS);
      return answer === 'time-out' ? 'no answer to a probe' : undefined;
    } catch (error) {
      return isOfStore(error) ? describeError(error) : undefined;
    }
  }

  #warn(current: Outage, failure: string): void {
    const nowMs = this.options.clock.monotonicMs();
    const { sinceMs, warnedAtMs, waiting } = current;
    if (warnedAtMs !== undefined && nowMs - warnedAtMs < WARN_EVERY_MS) return;
    current.warnedAtMs = nowMs;
    for (const write of waiting.splice(0)) write(true);
    const duration = describeDuration(nowMs - sinceMs);
    const ticks = describeTicks(current);
    const message = `${this.options.store()} has not answered for ${duration}${ticks}. Until it answers, its failures are logged at debug, and this warning once a minute. Cause: ${failure}`;
    this.options.events.warn(message);
  }

  #end(): void {
    const current = this.#current;
    this.#current = undefined;
    if (current === undefined) return;
    for (const write of current.waiting) write(false);
    if (current.warnedAtMs === undefined || this.#hasStopped) return;
    const lastedMs = Math.round(this.options.clock.monotonicMs() - current.sinceMs);
    const lostTicks = Object.fromEntries(current.lostTicks);
    const message = `${this.options.store()} answers again after ${describeDuration(lastedMs)}${describeTicks(current)}`;
    this.options.events.emit('guard:outage', { message, lastedMs, lostTicks });
  }
}

function isFailure(event: object): boolean {
  return 'error' in event && isOfStore(event.error);
}

/** Not one that other transactions caused, or a table. Then the store has answered. */
function isOfStore(error: unknown): error is LockStorageError {
  if (!(error instanceof LockStorageError) || error instanceof SchemaMismatchError) return false;
  return error.outcome !== 'contention';
}

function describeTicks({ lostTicks, retriedTicks }: Outage): string {
  const count = [...lostTicks.values()].reduce((sum, each) => sum + each, 0);
  if (count === 0) return '';
  const later = retriedTicks === 0 ? '' : `; the guard retries ${retriedTicks} of them`;
  return `; ${count} ${count === 1 ? 'tick' : 'ticks'} did not run (${[...lostTicks.keys()].join(', ')})${later}`;
}
