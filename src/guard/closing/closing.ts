import { InvalidLockConfigurationError, type Clock, type Duration } from '../../core';
import { withinLimit } from '../../core/clock';
import { parseDuration } from '../../core/duration';
import type { RunRegistry } from '../../core/execution/run-registry';
import { closeOnSignals } from './close-on-signals';

export interface CloseOptions {
  /** How long running jobs are waited for. Default 20 s. */
  readonly timeout?: Duration | undefined;
  /** How long before the time-out their signals abort. Default 5 s, or the time-out if that is shorter. */
  readonly grace?: Duration | undefined;
}

export interface CloseResult {
  /** Jobs that were running and ended, with their locks released. */
  readonly settled: readonly string[];
  /** Jobs that were still running at the time-out. Their leases end by themselves. */
  readonly abandoned: readonly string[];
}

export interface CloseHook {
  /** Before anything is waited for: nothing new may start. */
  readonly stop?: () => Promise<void>;
  /** After the last job. */
  readonly close?: () => Promise<void>;
}

interface CloseLimits {
  readonly timeoutMs: number;
  readonly graceMs: number;
}

interface CloseRequest extends CloseLimits {
  readonly runs: RunRegistry;
  readonly clock: Clock;
  readonly hooks: readonly CloseHook[];
  readonly warn: (message: string, error: unknown) => void;
}

/** Connections that do not end in this time are left behind. */
const LONGEST_HOOK_MS = 5000;

/** The end of one guard: it comes once, by a call or by a signal. */
export class Closing {
  readonly #hooks: CloseHook[] = [];
  readonly #signalListeners: (() => void)[] = [];
  #result: Promise<CloseResult> | undefined;

  constructor(
    private readonly runs: RunRegistry,
    private readonly clock: Clock,
    private readonly warn: CloseRequest['warn'],
  ) {}

  get hasBegun(): boolean {
    return this.#result !== undefined;
  }

  add(hook: CloseHook): void {
    this.#hooks.push(hook);
  }

  /** Further calls return the same result. */
  async close(options: CloseOptions): Promise<CloseResult> {
    const limits = checkCloseOptions(options);
    const { runs, clock, warn } = this;
    this.#result ??= closeRuns({ runs, clock, hooks: this.#hooks, warn, ...limits }).finally(() => {
      for (const stopListening of this.#signalListeners) stopListening();
    });
    return await this.#result;
  }

  /** @returns a function that stops listening */
  onSignals(options: CloseOptions, close: () => Promise<unknown>): () => void {
    checkCloseOptions(options);
    const stopListening = closeOnSignals(close, this.warn);
    this.#signalListeners.push(stopListening);
    return stopListening;
  }
}

/** @throws InvalidLockConfigurationError */
export function checkCloseOptions({ timeout = '20s', grace }: CloseOptions): CloseLimits {
  const timeoutMs = parseDuration(timeout, 'timeout of close');
  const graceMs = parseDuration(grace ?? Math.min(5000, timeoutMs), 'grace of close');
  if (graceMs <= timeoutMs) return { timeoutMs, graceMs };
  throw new InvalidLockConfigurationError(
    `grace (${grace}) of close is longer than its timeout (${timeout}).`,
  );
}

async function closeRuns({
  runs,
  clock,
  hooks,
  warn,
  timeoutMs,
  graceMs,
}: CloseRequest): Promise<CloseResult> {
  runs.close();
  const running = runs.active;
  // Beside the jobs, so that a hook which hangs takes nothing from their time, and adds nothing to it.
  const stopped = Promise.all(hooks.map(({ stop }) => finish(clock, stop, warn)));
  const allSettled = Promise.all(running.map((run) => run.settled));
  if ((await withinLimit(clock, allSettled, timeoutMs - graceMs)) === 'time-out') {
    const reason = new DOMException('The job guard is closing: the job was asked to stop.', 'AbortError');
    for (const run of running) run.askToStop(reason);
    await withinLimit(clock, allSettled, graceMs);
  }
  await stopped;
  const abandoned = runs.active;
  for (const run of abandoned) {
    run.abandon();
    warn(
      `Job '${run.name}' still runs, and is not waited for any longer: its lock ends by itself.`,
      undefined,
    );
  }
  await Promise.all(hooks.map(({ close }) => finish(clock, close, warn)));
  return {
    settled: running.filter((run) => !abandoned.includes(run)).map(({ name }) => name),
    abandoned: abandoned.map(({ name }) => name),
  };
}

/** One that fails or hangs does not keep the others from closing. */
async function finish(clock: Clock, hook: CloseHook['close'], warn: CloseRequest['warn']): Promise<void> {
  try {
    const done = await withinLimit(clock, Promise.resolve(hook?.()), LONGEST_HOOK_MS);
    if (done === 'time-out') warn('Something did not close in time and was left behind.', undefined);
  } catch (error) {
    warn('Something could not be closed.', error);
  }
}
