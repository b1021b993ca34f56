import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { instrumentGuard } from 'cronlatch/observability';

export async function start(database: string) {
  const exporter = new PrometheusExporter({ port: Number(process.env['METRICS_PORT'] ?? 9464) });
  const meterProvider = new MeterProvider({ readers: [exporter] });
  metrics.setGlobalMeterProvider(meterProvider); // Before instrumentGuard.
  const guard = await createJobGuard(database);
  instrumentGuard(guard);
  guard.onClose({ close: () => meterProvider.shutdown() });
  return guard;
}
