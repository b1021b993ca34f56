import { diag, type BatchObservableResult, type Meter } from '@opentelemetry/api';
import type { JobGuard } from '../guard';
import { operations } from '../operations';
import type { Calls } from '../guard/calls/calls';
import type { OncePerJobRunner } from '../guard/calls/once-per-job-runner';
import { limitOf } from '../ledger/store-statements';
import { jobAttribute } from './attributes';

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
