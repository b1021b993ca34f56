import { createNoopMeter } from '@opentelemetry/api';
import { instrumentGuard } from 'cronlatch/observability';
import { guardOfRuns } from '../benches/guard-of-runs';

export interface Instrument {
  readonly name: string;
  readonly unit: string;
  readonly kind: 'counter' | 'up-down counter' | 'histogram' | 'gauge';
}

const KINDS: Readonly<Record<string, Instrument['kind']>> = {
  createCounter: 'counter',
  createUpDownCounter: 'up-down counter',
  createHistogram: 'histogram',
  createObservableGauge: 'gauge',
};

/** All instruments that `instrumentGuard` creates, also those without values. */
export function createdInstruments(): readonly Instrument[] {
  const created: Instrument[] = [];
  const meter = new Proxy(createNoopMeter(), {
    get(target, method: string) {
      const kind = KINDS[method];
      const create = Reflect.get(target, method) as (...args: unknown[]) => unknown;
      return (name: string, options: { unit: string }): unknown => {
        if (kind !== undefined) created.push({ name, unit: options.unit, kind });
        return create.call(target, name, options);
      };
    },
  });
  instrumentGuard(guardOfRuns().guard, { meterProvider: { getMeter: () => meter } });
  return created;
}

/** The names of an instrument's series in Prometheus, by the rules of OpenTelemetry. */
export function prometheusNames({ name, unit, kind }: Instrument): string[] {
  const base = `${name.replaceAll('.', '_')}${unit === 's' ? '_seconds' : ''}`;
  if (kind === 'histogram') return ['bucket', 'sum', 'count'].map((part) => `${base}_${part}`);
  return [kind === 'counter' ? `${base}_total` : base];
}
