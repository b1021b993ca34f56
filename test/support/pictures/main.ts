import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { createDashboard, toNodeHandler } from 'cronlatch/dashboard';
import { fillSample, refreshSample } from './sample';

const folder = mkdtempSync(join(tmpdir(), 'cronlatch-pictures-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit());

async function main(): Promise<void> {
  const file = join(folder, 'sample.sqlite');
  await fillSample(file);
  setInterval(() => refreshSample(file), 10_000).unref();
  const guard = await createJobGuard(`sqlite:${file}`, { pollInterval: false });
  const dashboard = createDashboard({ guard, access: () => ({ level: 'operate', actor: 'anne' }) });
  const server = createServer(toNodeHandler(dashboard));
  await once(server.listen(Number(process.env['PORT'] ?? 0), '127.0.0.1'), 'listening');
  console.log(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
}

void main();
