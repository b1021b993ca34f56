import { metrics, trace, type MeterProvider, type TracerProvider } from '@opentelemetry/api';
import { InvalidLockUseError, type Duration } from '../core';
import { checkOptionNames, describeValue } from '../core/options';
import { parseDuration } from '../core/duration';
import type { JobGuard } from '../guard';
import { callsOf } from '../guard/calls/calls';
import { measureEvents, measureStores } from './metrics';
import { traceRuns } from './run-spans';

export interface InstrumentOptions {
  /** Default: the global one, which must be set before the call. */
  readonly meterProvider?: MeterProvider | undefined;
  /** Default: the global one. */
  readonly tracerProvider?: TracerProvider | undefined;
  /** A job later than this counts as late. Use more than two `pollInterval` of your guards. Default 5 minutes. */
  readonly lateAfter?: Duration | undefined;
}

const SCOPE = 'cronlatch';

const instrumented = new WeakSet<JobGuard>();

/**
 * Records metrics of the guard, and a span for each run. The span is active while the handler runs, so spans of the
 * handler are its children.
 *
 * Most metrics have the attribute `cronlatch.job`, the name of the job. If a function names the locks of a job, that is
 * the job's `label`, so that each lock does not get a time series of its own. `guard.run` has no label: a name that
 * differs per call makes a new series each time. Locks of `guard.lockManager()` do not have the attribute.
 *
 * The gauges send a few statements per collection: one per once-per job that is registered with the guard, and three
 * more. If a store does not answer, `cronlatch.store.reachable` is 0, the other gauges keep their last values, and
 * OpenTelemetry's `diag` logs a warning.
 *
 * @returns a function that stops the recording. Spans of active runs still end with their runs.
 * @throws InvalidLockUseError for anything but a guard, for a guard that is instrumented, and for an invalid provider
 * @throws InvalidLockConfigurationError for an invalid `lateAfter`
 */
export function instrumentGuard(guard: JobGuard, options: InstrumentOptions = {}): () => void {
  const calls = callsOf(guard, 'instrumentGuard');
  checkOptionNames(options, ['meterProvider', 'tracerProvider', 'lateAfter'], 'instrumentGuard');
  const { meterProvider = metrics.getMeterProvider(), tracerProvider = trace.getTracerProvider() } = options;
  const toleranceMs = parseDuration(options.lateAfter ?? '5m', 'lateAfter');
  requireMethod(meterProvider, 'meterProvider', 'getMeter');
  requireMethod(tracerProvider, 'tracerProvider', 'getTracer');
  if (instrumented.has(guard))
    throw new InvalidLockUseError(
      'instrumentGuard was already called for this guard, so its runs would be counted twice. First call the function that it returned.',
    );
  const stops: (() => void)[] = [() => instrumented.delete(guard)];
  const stop = (): void => stops.forEach((each) => each());
  instrumented.add(guard);
  try {
    const meter = meterProvider.getMeter(SCOPE);
    stops.push(...measureEvents(guard, calls, meter));
    stops.push(measureStores(guard, calls, meter, toleranceMs));
    stops.push(...traceRuns(guard, calls, tracerProvider.getTracer(SCOPE)));
    return stop;
  } catch (error) {
    stop(); // A provider can fail, and the next call must find no listener of this one.
    throw error;
  }
}

function requireMethod(provider: object, option: string, method: string): void {
  if (provider !== null && typeof (provider as Record<string, unknown>)[method] === 'function') return;
  throw new InvalidLockUseError(
    `${option} of instrumentGuard is ${describeValue(provider)}: it must be a provider of OpenTelemetry with the method '${method}'.`,
  );
}
