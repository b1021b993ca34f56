/** Runs the README's start, and its job once, by hand: 03:00 may be far. */
import { getTasks } from 'node-cron';
import { channel } from 'node:diagnostics_channel';
import './billing';

async function main(): Promise<void> {
  while (getTasks().size === 0) await new Promise((resolve) => setImmediate(resolve));
  const released = new Promise((resolve) => channel('cronlatch:lock:released').subscribe(resolve));
  for (const task of getTasks().values()) await task.execute();
  await released;
  process.send?.('ran');
}

void main();
