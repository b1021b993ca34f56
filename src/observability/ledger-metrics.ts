import { diag, type Attributes, type BatchObservableResult, type Meter } from '@opentelemetry/api';
import type { JobGuard } from '../guard';
import type { GuardIntegration } from '../guard/integration';
import type { OncePerJobRunner } from '../guard/once-per-job-runner';
import { findOverdueJobs, isAnswerKept } from '../ledger/job-register';
import { limitOf, readRegister } from '../ledger/store-statements';
import { jobAttribute } from './attributes';

/**
 * Reads the ledger when the metrics are collected, and at no other time.
 *
 * @returns a function that stops the readings
 */
export function measureLedger(
  guard: JobGuard,
  integration: GuardIntegration,
  meter: Meter,
  toleranceMs: number,
): () => void {
  const runner = integration.oncePerRunner;
  if (runner === undefined) return () => {};
  const offset = meter.createObservableGauge('cronlatch.clock.offset', {
    unit: 's',
    description: "How far the host's clock is ahead of the database's.",
  });
  const lastCompleted = meter.createObservableGauge('cronlatch.run.last_completed', {
    unit: 's',
    description: 'When the latest completed run of a job ended, in Unix time.',
  });
  const overdue = meter.createObservableGauge('cronlatch.run.overdue', {
    unit: '{job}',
    description: '1 if a job has not run in time, or else 0.',
  });
  const observe = async (result: BatchObservableResult): Promise<void> => {
    // One failed statement ends the reading, so that a store that is down delays a collection only once.
    try {
      result.observe(offset, await readClockOffset(runner));
      for (const [job, at] of await readLastCompleted(guard, runner)) result.observe(lastCompleted, at, job);
      for (const [job, value] of await readOverdue(runner, toleranceMs)) result.observe(overdue, value, job);
    } catch (error) {
      diag.warn('cronlatch could not read the ledger for its gauges.', error);
    }
  };
  const gauges = [offset, lastCompleted, overdue];
  meter.addBatchObservableCallback(observe, gauges);
  return () => meter.removeBatchObservableCallback(observe, gauges);
}

type Observation = readonly [attributes: Attributes, value: number];

/** In seconds. The database's clock is read between two readings of the host's clock. */
async function readClockOffset({ context }: OncePerJobRunner): Promise<number> {
  const { store, clock } = context;
  const beforeMs = clock.wallMs();
  const request = { job: '', scope: '', periodKey: undefined, since: undefined };
  const { now } = await store.peek(request, limitOf(context));
  return ((beforeMs + clock.wallMs()) / 2 - now.getTime()) / 1000;
}

/** In Unix seconds. `finishedAt` of the latest period, so a rerun of an earlier period does not count. */
async function readLastCompleted(guard: JobGuard, { registry }: OncePerJobRunner): Promise<Observation[]> {
  const observations: Observation[] = [];
  for (const { policy } of registry.all) {
    const { job, scope } = policy;
    const ofScope = typeof scope === 'string' ? { scope } : {};
    const [run] = await guard.ledger.list({ job, ...ofScope, states: ['completed'], limit: 1 });
    const { finishedAt } = run ?? {};
    if (finishedAt !== undefined) observations.push([jobAttribute({ job }), finishedAt.getTime() / 1000]);
  }
  return observations;
}

/** The registered jobs of all instances. None if the run store has no register of jobs. */
async function readOverdue({ context }: OncePerJobRunner, toleranceMs: number): Promise<Observation[]> {
  if (context.store.jobs === undefined) return [];
  const register = await readRegister(context);
  const overdue = new Set(findOverdueJobs(register, toleranceMs).map(({ job }) => job));
  return register.jobs
    .filter(({ declared, nextScheduledAt }) => isAnswerKept(declared) && nextScheduledAt !== undefined)
    .map(({ job }) => [jobAttribute({ job }), overdue.has(job) ? 1 : 0]);
}
