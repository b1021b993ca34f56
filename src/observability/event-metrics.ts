import type { Meter } from '@opentelemetry/api';
import { ClaimLostError, type CronlatchEvents } from '../core';
import type { JobGuard } from '../guard';
import type { GuardIntegration } from '../guard/integration';
import { errorTypeOf, jobAttribute } from './attributes';

/** In seconds. Jobs take longer than requests: these are for a tenth of a second to six hours. */
const DURATIONS = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 14_400, 21_600];

/**
 * Records what the events of a guard report.
 *
 * @returns a function that stops the recording
 */
export function measureEvents(guard: JobGuard, integration: GuardIntegration, meter: Meter): () => void {
  const counter = (name: string, unit: string, description: string) =>
    meter.createCounter(`cronlatch.${name}`, { unit, description });
  const attempts = counter('lock.attempts', '{attempt}', 'Attempts to acquire a lock, by outcome.');
  const lost = counter('lock.lost', '{lock}', 'Locks that were lost while their job was running.');
  const renewals = counter('lock.renewals', '{renewal}', 'Renewals and extensions of a lease.');
  const releaseFailures = counter('lock.release_failures', '{failure}', 'Failed releases of a lock.');
  const skips = counter('run.skips', '{run}', 'Runs that were skipped, by reason.');
  const failures = counter('run.failures', '{run}', 'Attempts that failed or crashed, by outcome.');
  const active = meter.createUpDownCounter('cronlatch.run.active', {
    unit: '{run}',
    description: 'Handlers that are running.',
  });
  const duration = meter.createHistogram('cronlatch.run.duration', {
    unit: 's',
    description: 'Duration of a handler, by outcome.',
    advice: { explicitBucketBoundaries: DURATIONS },
  });

  const stops = [
    guard.on('lock:acquired', (event) => attempts.add(1, { ...jobAttribute(event), outcome: 'acquired' })),
    guard.on('lock:skipped', (event) => {
      const job = jobAttribute(event);
      if (event.reason === 'locked') attempts.add(1, { ...job, outcome: 'locked' });
      skips.add(1, { ...job, reason: event.reason });
    }),
    guard.on('lock:failed', (event) =>
      attempts.add(1, {
        ...jobAttribute(event),
        outcome: 'failed',
        'error.type': errorTypeOf(event.error),
      }),
    ),
    guard.on('lock:lost', (event) => lost.add(1, jobAttribute(event))),
    guard.on('lock:extended', (event) => renewals.add(1, jobAttribute(event))),
    guard.on('lock:releaseFailed', (event) => releaseFailures.add(1, jobAttribute(event))),
    guard.on('run:completed', (event) =>
      duration.record(event.durationMs / 1000, { ...jobAttribute(event), outcome: 'completed' }),
    ),
    guard.on('run:failed', (event) => {
      const job = jobAttribute(event);
      const { error, durationMs } = event;
      failures.add(1, { ...job, outcome: consequenceOf(event), 'error.type': errorTypeOf(error) });
      if (!hasRunElsewhere(event)) duration.record(durationMs / 1000, { ...job, outcome: 'failed' });
    }),
    guard.on('run:skipped', (event) => {
      const job = jobAttribute(event);
      const { reason, durationMs } = event;
      skips.add(1, { ...job, reason });
      if (durationMs !== undefined) duration.record(durationMs / 1000, { ...job, outcome: 'skipped' });
    }),
    guard.on('run:takenOver', (event) => failures.add(1, { ...jobAttribute(event), outcome: 'taken-over' })),
    guard.on('run:interrupted', (event) =>
      failures.add(1, { ...jobAttribute(event), outcome: 'interrupted' }),
    ),
    integration.wrapRuns(async (run, work) => {
      active.add(1, jobAttribute(run));
      try {
        return await work();
      } finally {
        active.add(-1, jobAttribute(run));
      }
    }),
  ];
  return () => {
    for (const stop of stops) stop();
  };
}

type Failure = CronlatchEvents['run:failed'];

/** What follows from a failed attempt. `'failed'`: the job has no ledger, or no retry. */
function consequenceOf({ isFinal, retryAt }: Failure): 'failed-permanently' | 'will-retry' | 'failed' {
  if (isFinal) return 'failed-permanently';
  return retryAt === undefined ? 'failed' : 'will-retry';
}

/** Whether the event reports a crash of another instance, whose duration is unknown. */
function hasRunElsewhere({ error, durationMs }: Failure): boolean {
  return durationMs === 0 && error instanceof ClaimLostError;
}
