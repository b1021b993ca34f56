import { diag, type Attributes, type BatchObservableResult, type Meter } from '@opentelemetry/api';
import { ClaimLostError, type CronlatchEvents, type LockEvent } from '../core';
import { isHoldOwner } from '../core/lease/hold-owner';
import type { JobGuard } from '../guard';
import type { Calls } from '../guard/calls/calls';
import type { OncePerJobRunner } from '../guard/calls/once-per-job-runner';
import { limitOf } from '../ledger/store-statements';
import { operations } from '../operations';

/** In seconds. Jobs take longer than requests: these are for a tenth of a second to six hours. */
const DURATIONS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 21_600];

/** Records what the events of a guard report. The returned functions stop the recording. */
export function measureEvents(guard: JobGuard, calls: Calls, meter: Meter): readonly (() => void)[] {
  const counter = (name: string, unit: string, description: string) => {
    const created = meter.createCounter(`cronlatch.${name}`, { unit, description });
    return (event: Pick<LockEvent, 'job'>, attributes?: Attributes): void =>
      created.add(1, { ...jobAttribute(event), ...attributes });
  };
  const attempts = counter('lock.attempts', '{attempt}', 'Attempts to acquire a lock, by outcome.');
  const lost = counter('lock.lost', '{lock}', 'Locks that were lost while their job was running.');
  const renewals = counter('lock.renewals', '{renewal}', 'Renewals and extensions of a lease.');
  const releaseFailures = counter('lock.release_failures', '{failure}', 'Failed releases of a lock.');
  const skips = counter('run.skips', '{run}', 'Runs that were skipped, by reason.');
  const failures = counter('run.failures', '{run}', 'Attempts that failed or lost their lease, by outcome.');
  const active = meter.createUpDownCounter('cronlatch.run.active', {
    unit: '{run}',
    description: 'Handlers that are running.',
  });
  const durations = meter.createHistogram('cronlatch.run.duration', {
    unit: 's',
    description: 'Duration of a handler, by outcome.',
    advice: { explicitBucketBoundaries: DURATIONS },
  });
  const duration = (event: LockEvent, durationMs: number, outcome: string): void => {
    const madeUp = event.madeUp && { 'cronlatch.made_up': true };
    durations.record(durationMs / 1000, { ...jobAttribute(event), outcome, ...madeUp });
  };

  return [
    guard.on('lock:acquired', (event) => attempts(event, { outcome: 'acquired' })),
    guard.on('lock:skipped', (event) => {
      const { reason, heldBy = '' } = event;
      if (reason === 'locked') attempts(event, { outcome: 'locked' });
      skips(event, { reason: isHoldOwner(heldBy) ? 'paused' : reason });
    }),
    guard.on('lock:failed', (event) =>
      attempts(event, { outcome: 'failed', 'error.type': errorTypeOf(event.error) }),
    ),
    guard.on('lock:lost', (event) => lost(event)),
    guard.on('lock:extended', (event) => renewals(event)),
    guard.on('lock:releaseFailed', (event) => releaseFailures(event)),
    guard.on('run:completed', (event) => duration(event, event.durationMs, 'completed')),
    guard.on('run:failed', (event) => {
      failures(event, { outcome: consequenceOf(event), 'error.type': errorTypeOf(event.error) });
      if (!hasRunElsewhere(event)) duration(event, event.durationMs, 'failed');
    }),
    guard.on('run:skipped', (event) => {
      const { reason, durationMs } = event;
      skips(event, { reason });
      if (durationMs !== undefined) duration(event, durationMs, 'skipped');
    }),
    guard.on('run:givenBack', (event) => duration(event, event.durationMs, 'given-back')),
    guard.on('run:takenOver', (event) => failures(event, { outcome: 'taken-over' })),
    guard.on('run:interrupted', (event) => failures(event, { outcome: 'interrupted' })),
    calls.parts.executor.runs.wrap(async (run, work) => {
      active.add(1, jobAttribute(run));
      try {
        return await work();
      } finally {
        active.add(-1, jobAttribute(run));
      }
    }),
  ];
}

/** What follows from a failed attempt. `'failed'`: the job has no ledger, or no retry. */
function consequenceOf({ isFinal, retryAt }: CronlatchEvents['run:failed']) {
  if (isFinal) return 'failed-permanently';
  return retryAt === undefined ? 'failed' : 'will-retry';
}

/** Whether the event reports the end of a lease of another instance. The duration is unknown. */
function hasRunElsewhere({ error, durationMs }: CronlatchEvents['run:failed']): boolean {
  return durationMs === 0 && error instanceof ClaimLostError;
}

/** Reads the stores only when the metrics are collected. The returned function stops the readings. */
export function measureStores(guard: JobGuard, calls: Calls, meter: Meter, toleranceMs: number): () => void {
  const gauge = (name: string, unit: string, description: string) =>
    meter.createObservableGauge(`cronlatch.${name}`, { unit, description });
  const reachable = gauge('store.reachable', '{guard}', "1 if the guard's stores answer, or else 0.");
  const offset = gauge('clock.offset', 's', "How far the host's clock is ahead of the database's.");
  const lastCompleted = gauge(
    'run.last_completed',
    's',
    'When the latest completed run ended, in Unix time.',
  );
  const late = gauge('job.late', '{job}', '1 if a job has not run in time, or else 0.');
  const missed = gauge('job.missed', '{job}', '1 if a job has missed a period of the last week, or else 0.');
  const seen = new Set<string>();
  const readLedger = async (result: BatchObservableResult, runner: OncePerJobRunner): Promise<void> => {
    result.observe(offset, await readClockOffset(runner));
    for (const [job, at] of await readLastCompleted(guard, runner))
      result.observe(lastCompleted, at, jobAttribute({ job }));
    const { jobs } = await operations(guard).overview({ lateAfter: toleranceMs });
    for (const { job } of jobs) seen.add(job);
    // A job that has left the register would keep its last value.
    for (const job of seen) {
      const problems = jobs.find((each) => each.job === job)?.problems ?? [];
      const has = (kind: 'late' | 'missed') => Number(problems.some((problem) => problem.kind === kind));
      result.observe(late, has('late'), jobAttribute({ job }));
      result.observe(missed, has('missed'), jobAttribute({ job }));
    }
  };
  const observe = async (result: BatchObservableResult): Promise<void> => {
    if (guard.isClosing) return result.observe(reachable, 0);
    const { oncePerRunner } = calls.parts;
    // One failed statement ends the reading, so that a store that is down delays a collection only once. The SDK then
    // exports the last values of the other gauges again, so only this one shows the failure.
    try {
      await guard.probe('5s');
      if (oncePerRunner !== undefined) await readLedger(result, oncePerRunner);
      result.observe(reachable, 1);
    } catch (error) {
      result.observe(reachable, 0);
      diag.warn('cronlatch could not read its stores for the gauges.', error);
    }
  };
  const gauges = [reachable, offset, lastCompleted, late, missed];
  meter.addBatchObservableCallback(observe, gauges);
  return () => meter.removeBatchObservableCallback(observe, gauges);
}

/** In seconds. The database's clock is read between two readings of the host's clock. */
async function readClockOffset({ context }: OncePerJobRunner): Promise<number> {
  const { store, clock } = context;
  const beforeMs = clock.wallMs();
  const request = { job: '', scope: '', periodKey: undefined, since: undefined };
  const { now } = await store.peek(request, limitOf(context));
  return ((beforeMs + clock.wallMs()) / 2 - now.getTime()) / 1000;
}

/** In Unix seconds. `finishedAt` of the latest period, so a rerun of an earlier period does not count. */
async function readLastCompleted(guard: JobGuard, { registry }: OncePerJobRunner) {
  const observations: [job: string, value: number][] = [];
  for (const { policy } of registry.all) {
    const { job, scope } = policy;
    const ofScope = typeof scope === 'string' ? { scope } : {};
    const [run] = await guard.ledger.list({ job, ...ofScope, states: ['completed'], limit: 1 });
    const { finishedAt } = run ?? {};
    if (finishedAt !== undefined) observations.push([job, finishedAt.getTime() / 1000]);
  }
  return observations;
}

function jobAttribute({ job }: Pick<LockEvent, 'job'>): Attributes {
  return job === undefined ? {} : { 'cronlatch.job': job };
}

/** The value of `error.type`: the name of the error, as OpenTelemetry defines it. */
export function errorTypeOf(error: unknown): string {
  try {
    if (error instanceof Error) return String(error.name);
  } catch {
    // A job can throw anything, even a revoked Proxy.
  }
  return '_OTHER';
}
