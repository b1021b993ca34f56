import type { Attributes, Meter } from '@opentelemetry/api';
import { ClaimLostError, type CronlatchEvents, type LockEvent } from '../core';
import { isHoldOwner } from '../core/lease/hold-owner';
import type { JobGuard } from '../guard';
import type { Calls } from '../guard/calls/calls';
import { errorTypeOf, jobAttribute } from './attributes';

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
