import { constants } from 'node:os';
import { isMainThread } from 'node:worker_threads';
import { InvalidLockConfigurationError, type Clock, type Duration, type EventHub } from '../../core';
import { withinLimit } from '../../core/clock';
import { parseDuration } from '../../core/duration';
import { checkOptionNames } from '../../core/options';
import type { ActiveRun, RunRegistry } from '../../core/execution/run-registry';
import { processState } from '../../core/process-state';
import { describeDuration } from '../log/time-texts';

export interface CloseOptions {
  /** How long to wait for running jobs. Default 20 s. */
  readonly timeout?: Duration | undefined;
  /** How long before the timeout their signals abort. Default 5 s, or the timeout if that is shorter. */
  readonly grace?: Duration | undefined;
}

export interface CloseResult {
  /** Jobs that ended within the timeout. Their locks are released. */
  readonly settled: readonly string[];
  /** Jobs that were still running, or whose locks could not be released, at the timeout. Their locks stay held until their leases expire. */
  readonly abandoned: readonly string[];
}

export interface CloseHook {
  /** Called before the guard waits for running jobs. Nothing new may start afterwards. */
  readonly stop?: () => Promise<void>;
  /** Called after the last job has ended, or after the timeout. */
  readonly close?: () => Promise<void>;
}

interface GuardHook extends CloseHook {
  /** Called after the last job has ended, before the hooks close what the locks need. */
  readonly release?: () => Promise<void> | undefined;
}

/** The guard does not wait longer for a hook. */
const HOOK_TIMEOUT_MS = 5000;

/** Closes one guard once, after a call or a signal. */
export class Closing {
  readonly #hooks: GuardHook[] = [];
  readonly #signalListeners: (() => void)[] = [];
  #result: Promise<CloseResult> | undefined;

  constructor(
    private readonly runs: RunRegistry,
    private readonly clock: Clock,
    private readonly events: EventHub,
  ) {}

  add(hook: GuardHook): void {
    this.#hooks.push(hook);
  }

  async close(options: CloseOptions): Promise<CloseResult> {
    const limits = checkCloseOptions(options);
    this.#result ??= this.#close(limits).finally(() => {
      for (const stopListening of this.#signalListeners) stopListening();
    });
    return await this.#result;
  }

  /** @returns a function that stops listening */
  onSignals(options: CloseOptions): () => void {
    checkCloseOptions(options);
    if (!isMainThread)
      this.events.warn(
        'closeOnSignals() has no effect in a worker thread, because Node sends it no signals. Let the main thread ask it to call guard.close().',
      );
    const stopListening = closeOnSignals(() => this.close(options), this.events);
    this.#signalListeners.push(stopListening);
    return stopListening;
  }

  async #close({ timeoutMs, graceMs }: ReturnType<typeof checkCloseOptions>): Promise<CloseResult> {
    const { runs, clock, events } = this;
    const beganMs = clock.monotonicMs();
    runs.close();
    const running = runs.active;
    const jobs = running.map(nameOf);
    const waits =
      jobs.length === 0 ? 'no job is running' : `waits up to ${timeoutMs / 1000} s for ${listed(jobs)}`;
    events.emit('guard:closing', { message: `closing: ${waits}`, timeoutMs, jobs });
    let stopped: readonly string[] = [];
    // Runs while the jobs end, so that a hook that hangs neither shortens nor lengthens the time they have.
    const hooked = this.#runHooks('stop');
    const allSettled = Promise.all(running.map((run) => run.settled));
    if ((await withinLimit(clock, allSettled, timeoutMs - graceMs)) === 'time-out') {
      const reason = new DOMException('The job guard is closing: the job was asked to stop.', 'AbortError');
      stopped = running.filter((run) => runs.active.includes(run)).map(nameOf);
      for (const run of running) run.askToStop(reason);
      await withinLimit(clock, allSettled, graceMs);
    }
    await hooked;
    const abandoned = runs.active;
    for (const run of abandoned) {
      run.abandon();
      const state = run.isReleasing ? 'has ended, but its lock could not be released' : 'is still running';
      events.warn(
        `Job '${run.name}' ${state}, and the guard no longer waits for it. Its lock stays held until its lease expires.`,
      );
    }
    await this.#runHooks('release');
    await this.#runHooks('close');
    const durationMs = Math.round(clock.monotonicMs() - beganMs);
    const left = abandoned.map(nameOf);
    const asked = stopped.length === 0 ? '' : `, asked ${listed(stopped)} to stop`;
    const gaveUp = left.length === 0 ? '' : `, gave up ${listed(left)}`;
    const message = `closed after ${describeDuration(durationMs)}${asked}${gaveUp}`;
    events.emit('guard:closed', { message, durationMs, jobs, stopped, abandoned: left });
    return {
      settled: running.filter((run) => !abandoned.includes(run)).map(({ name }) => name),
      abandoned: abandoned.map(({ name }) => name),
    };
  }

  async #runHooks(step: keyof GuardHook): Promise<void> {
    await Promise.all(this.#hooks.map((hook) => this.#run(hook[step])));
  }

  /** Never rejects, so that a hook that fails or hangs does not keep the others from closing. */
  async #run(hook: GuardHook[keyof GuardHook]): Promise<void> {
    try {
      const done = await withinLimit(this.clock, Promise.resolve(hook?.()), HOOK_TIMEOUT_MS);
      if (done === 'time-out')
        this.events.warn(
          `A close hook did not finish within ${HOOK_TIMEOUT_MS / 1000} s. The guard no longer waits for it.`,
        );
    } catch (error) {
      this.events.warn('A close hook failed.', error);
    }
  }
}

/** Its job, or its lock if no task has begun under it. */
function nameOf({ name, task }: ActiveRun): string {
  return task?.job ?? name;
}

/** For example `2 jobs (close-day, send-invoices)`. */
function listed(jobs: readonly string[]): string {
  return `${jobs.length} ${jobs.length === 1 ? 'job' : 'jobs'} (${jobs.join(', ')})`;
}

/** @throws InvalidLockConfigurationError */
export function checkCloseOptions(options: CloseOptions) {
  checkOptionNames(options, ['timeout', 'grace'], 'close');
  const { timeout = '20s', grace } = options;
  const timeoutMs = parseDuration(timeout, 'timeout of close');
  const graceMs = parseDuration(grace ?? Math.min(5000, timeoutMs), 'grace of close');
  if (graceMs <= timeoutMs) return { timeoutMs, graceMs };
  throw new InvalidLockConfigurationError(
    `grace (${grace}) of close is longer than its timeout (${timeout}).`,
  );
}

const SIGNALS = ['SIGTERM', 'SIGINT'] as const;

/** A signal so soon after the first counts as the same, because nodemon and npm can send theirs twice. */
export const SAME_SIGNAL_MS = 500;

/** The listeners of all guards, and the number of guards that a signal is closing now. */
const ours = processState('signals', () => ({ listeners: new Set<unknown>(), closing: 0 }));

function closeOnSignals(close: () => Promise<unknown>, events: EventHub): () => void {
  let firstAtMs: number | undefined;
  let isHandled = false;
  const stopListening = (): void => {
    for (const signal of SIGNALS) process.off(signal, onSignal);
    ours.listeners.delete(onSignal);
  };
  const onSignal = (signal: NodeJS.Signals): void => {
    isHandled = othersListen(signal);
    const isSecond = firstAtMs !== undefined && performance.now() - firstAtMs >= SAME_SIGNAL_MS;
    if (isSecond) stopListening();
    if (isSecond && !isHandled) endBy(signal);
    if (firstAtMs !== undefined) return;
    firstAtMs = performance.now();
    ours.closing += 1;
    // It stops listening when it has closed. Before, signal-exit and tsx would find no other listener, and end the process.
    close()
      .catch((error: unknown) => events.warn('Closing the guard failed.', error))
      .finally(() => {
        ours.closing -= 1;
        // The last guard to close lets the process end.
        if (ours.closing === 0 && !isHandled && !othersListen(signal)) endBy(signal);
      });
  };
  ours.listeners.add(onSignal);
  // Ours must come first, because a listener that the application added with `once` is gone after its turn.
  for (const signal of SIGNALS) process.prependListener(signal, onSignal);
  return stopListening;
}

/** A signal without a listener does not end the first process of a container, so it exits with a shell's status for it. */
function endBy(signal: NodeJS.Signals): void {
  if (process.pid === 1) process.exit(128 + constants.signals[signal]);
  // tsx hides its listener, so Node does not call it when ours is gone.
  process.emit(signal, signal);
  process.kill(process.pid, signal);
}

function othersListen(signal: NodeJS.Signals): boolean {
  const others = process.listeners(signal).filter((listener) => !ours.listeners.has(listener));
  return others.length > signalExitListeners();
}

/** The listeners of signal-exit only end the process if no others listen. Its versions 3 and 4 count them here. */
export function signalExitListeners(): number {
  const { __signal_exit_emitter__: v3 } = process as { __signal_exit_emitter__?: { readonly count: number } };
  const v4: unknown = Reflect.get(globalThis, Symbol.for('signal-exit emitter'));
  return (v3?.count ?? 0) + ((v4 as typeof v3)?.count ?? 0);
}
