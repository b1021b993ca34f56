import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createJobGuard } from 'cronlatch/better-sqlite3';
import { closing } from '../benches/closing';
import { serveDashboard } from '../benches/served-dashboard';
import { CHROMIUM, launchChromium } from '../processes/chromium';
import { drawPictures } from './pictures';
import { fillSample, refreshSample } from './sample';

const folder = mkdtempSync(join(tmpdir(), 'cronlatch-pictures-'));
process.on('exit', () => rmSync(folder, { recursive: true }));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit());

async function main(): Promise<void> {
  const file = join(folder, 'sample.sqlite');
  await fillSample(file);
  setInterval(() => refreshSample(file), 10_000).unref();
  await using guard = closing(await createJobGuard(`sqlite:${file}`, { pollInterval: false }));
  await using served = closing(await serveDashboard(guard, Number(process.env['PORT'] ?? 0), 'anne'));
  if (CHROMIUM === undefined) {
    console.log(served.address);
    return await new Promise(() => {});
  }
  await using browser = closing(await launchChromium(CHROMIUM));
  const runs = await guard.ledger.list({ job: 'close-day', limit: 10 });
  const { periodKey = '' } = runs.find(({ generation }) => generation > 0) ?? {};
  for (const drawn of await drawPictures(browser, served.address, periodKey)) console.log(drawn);
}

void main();
