import { context, SpanStatusCode, trace, type Attributes, type Span, type Tracer } from '@opentelemetry/api';
import type { RunIdentity } from '../core';
import type { ObservedRun } from '../core/execution/events';
import type { JobGuard } from '../guard';
import type { Calls } from '../guard/calls/calls';
import { errorTypeOf } from './metrics';

/** Makes a span per run, active during its handler and the events of its end. The returned functions stop it. */
export function traceRuns(guard: JobGuard, calls: Calls, tracer: Tracer): readonly (() => void)[] {
  const spans = new WeakMap<RunIdentity, Span>();
  return [
    // Another event of the same run has the same object.
    guard.on('run:skipped', ({ run, reason }) => {
      if (run !== undefined) spans.get(run)?.setAttributes({ outcome: 'skipped', reason });
    }),
    guard.on('run:givenBack', ({ run }) => {
      if (run === undefined) return;
      spans.get(run)?.setAttributes({ outcome: 'given-back' });
      spans.delete(run);
    }),
    calls.parts.executor.runs.wrap(async (run, work) => {
      const span = tracer.startSpan(`run ${run.job ?? run.name}`, { attributes: attributesOf(run) });
      if (run.run !== undefined) spans.set(run.run, span);
      try {
        return await context.with(trace.setSpan(context.active(), span), work);
      } catch (error) {
        if (run.run === undefined || spans.has(run.run)) recordFailure(span, error);
        throw error;
      } finally {
        span.end();
      }
    }),
  ];
}

function recordFailure(span: Span, error: unknown): void {
  span.setStatus({ code: SpanStatusCode.ERROR });
  span.setAttributes({ outcome: 'failed', 'error.type': errorTypeOf(error) });
  try {
    if (error instanceof Error) span.recordException(error);
  } catch {
    // A job can throw anything, even a revoked Proxy. The caller gets that, and not our error.
  }
}

function attributesOf({ name, job, scheduledAt, fencingToken, businessDate, run }: ObservedRun): Attributes {
  return {
    'cronlatch.job': job,
    'cronlatch.lock': name,
    'cronlatch.scheduled_at': scheduledAt?.toISOString(),
    'cronlatch.fencing_token': fencingToken,
    'cronlatch.business_date': businessDate,
    'cronlatch.period_key': run?.periodKey,
    'cronlatch.scope': run?.scope,
    'cronlatch.generation': run?.generation,
    'cronlatch.attempt': run?.attempt,
  };
}
