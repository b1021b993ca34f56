import type { Attributes } from '@opentelemetry/api';
import {
  DataPointType,
  MeterProvider,
  MetricReader,
  type Histogram,
  type MetricData,
} from '@opentelemetry/sdk-metrics';

/** Collects when the test asks. */
class TestReader extends MetricReader {
  protected override async onForceFlush(): Promise<void> {}
  protected override async onShutdown(): Promise<void> {}
}

/** A number per series, by its attributes: `{ 'outcome=completed': 2 }`. A histogram has its sum and its count. */
export type Series = Readonly<Record<string, number | readonly [sum: number, count: number]>>;

/** A meter provider whose metrics a test reads. */
export function metricsBench() {
  const reader = new TestReader();
  const meterProvider = new MeterProvider({ readers: [reader] });
  const collect = async (): Promise<MetricData[]> => {
    const { resourceMetrics, errors } = await reader.collect();
    if (errors.length > 0) throw new AggregateError(errors, 'The collection failed.');
    return resourceMetrics.scopeMetrics.flatMap(({ metrics }) => metrics);
  };
  return {
    reader,
    meterProvider,
    collect,
    /** All series with values, by the names of their instruments. */
    read: async (): Promise<Record<string, Series>> =>
      Object.fromEntries((await collect()).map((metric) => [metric.descriptor.name, seriesOf(metric)])),
  };
}

function seriesOf({ dataPointType, dataPoints }: MetricData): Series {
  return Object.fromEntries(
    dataPoints.map(({ attributes, value }) => [
      textOf(attributes),
      dataPointType === DataPointType.HISTOGRAM ? sumAndCount(value as Histogram) : (value as number),
    ]),
  );
}

function sumAndCount({ sum = NaN, count }: Histogram): readonly [number, number] {
  return [sum, count];
}

/** For example `cronlatch.job=close-day outcome=completed`. */
function textOf(attributes: Attributes): string {
  const pairs = Object.entries(attributes).map(([name, value]) => `${name}=${String(value)}`);
  return pairs.sort().join(' ');
}
