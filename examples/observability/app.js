/** Two jobs, whose metrics Prometheus reads at port 9464. */
import { hostname } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { metrics } from '@opentelemetry/api';
import { PrometheusExporter } from '@opentelemetry/exporter-prometheus';
import { MeterProvider } from '@opentelemetry/sdk-metrics';
import { currentRun } from 'cronlatch';
import { scheduleLocked } from 'cronlatch/node-cron';
import { instrumentGuard } from 'cronlatch/observability';
import { createJobGuard } from 'cronlatch/pg';

const exporter = new PrometheusExporter({ port: Number(process.env.METRICS_PORT ?? 9464) });
metrics.setGlobalMeterProvider(new MeterProvider({ readers: [exporter] })); // Before instrumentGuard.
const guard = await createJobGuard(process.env.DATABASE_URL);
instrumentGuard(guard);
guard.closeOnSignals();

/** Takes some seconds, so that you can kill its holder. Then no instance runs it before the lease of 15 s expires. */
const importing = { name: 'import-prices', lockAtMostFor: '15s', lockAtLeastFor: '2s', keepAlive: true };
scheduleLocked('*/10 * * * * *', importing, importPrices, { guard });

async function importPrices({ signal }) {
  console.log(`importing prices on ${hostname()}`);
  await setTimeout(4_000, undefined, { signal }); // The work.
}

/** Fails until an operator runs it again. */
const oncePer = { period: 'hour', timeZone: 'Europe/Paris', retry: { maxAttempts: 1 } };
const sending = { name: 'send-invoices', lockAtMostFor: '1m', keepAlive: true, oncePer };
scheduleLocked('* * * * *', sending, sendInvoices, { guard, timeZone: 'Europe/Paris' });

function sendInvoices() {
  if (currentRun().generation === 0) throw new Error('the mail server does not answer');
}
