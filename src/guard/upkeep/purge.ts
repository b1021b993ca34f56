import type { Duration, Lock } from '../../core';
import { HOUR_MS, parsePositiveDuration } from '../../core/duration';
import { PURGE_JOB } from '../../core/lock-name';
import { LONGEST_KEPT_DAYS, purgeRuns } from '../../ledger/operator/purge-runs';
import type { Calls } from '../calls/calls';
import { compileJob } from '../jobs/job';
import type { Service } from './upkeep';

const PURGE = {
  name: PURGE_JOB,
  lockAtMostFor: '1m',
  lockAtLeastFor: 0,
  keepAlive: true,
  oncePer: { period: 'day', timeZone: 'UTC', retry: { maxAttempts: 3 } },
} as const;

/**
 * Purges old runs as a job of the guard, once a day on one instance. No schedule calls it, so each instance asks for it.
 *
 * @param retention without it, only runs of ticks are purged
 * @throws InvalidLockConfigurationError for an invalid duration
 */
export function purgeService(calls: Calls, retention: Duration | undefined): Service {
  const { context, registry } = calls.requireOncePerRunner(`Job '${PURGE_JOB}' needs`);
  const keptMs =
    retention === undefined ? undefined : parsePositiveDuration(retention, 'retention', LONGEST_KEPT_DAYS);
  const stop = new AbortController();
  const task = ({ signal }: Lock): Promise<number> => {
    const spared = keptMs && Math.max(keptMs, registry.longestWindowMs);
    return purgeRuns(context, spared, AbortSignal.any([stop.signal, signal]));
  };
  const job = compileJob(PURGE, registry.defaults, undefined);
  return {
    failure: 'Could not purge old runs. The guard will try again in an hour.',
    everyMs: HOUR_MS,
    // Leaves a new instance time to register its jobs, whose catch-up windows a purge spares.
    firstAfterMs: 600_000,
    async run() {
      // Events report a failure.
      await calls.execute(job, { task, args: [], call: () => task }).catch(() => {});
    },
    stop: () => stop.abort(),
  };
}
