import { setTimeout } from 'node:timers/promises';
import type { Reporter } from './reporter';

/** The job of the demo: 100 to 300 ms of work. It reports when it starts and ends. */
export async function work(scheduledAt: Date | undefined, reporter: Reporter): Promise<void> {
  reporter.report('enter', scheduledAt);
  await setTimeout(100 + Math.random() * 200);
  reporter.report('exit', scheduledAt);
}
