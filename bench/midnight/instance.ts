/** One process of a crowd: gets its orders, reports that it is ready, gets the time to start, and reports what it did. */
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Account, Orders } from './crowd';
import type { Work } from './tick';
import { openWork } from './work';

async function main(): Promise<void> {
  const orders = (await nextMessage()) as Orders;
  const work = await openWork(orders);
  process.send?.('ready');
  const startAtMs = (await nextMessage()) as number;
  const account = await start(work, orders, startAtMs);
  await work[Symbol.asyncDispose]();
  process.send?.(account);
}

/** All ticks begin in one turn of the event loop, as those of a scheduler do. */
async function start(work: Work, { jobs }: Orders, startAtMs: number): Promise<Account> {
  const ranAfterMs: Record<string, number> = {};
  const failures: string[] = [];
  await pause(Math.max(0, startAtMs - Date.now()));
  const onRun = (job: string): void => {
    // A second run in the same process must be seen, too.
    if (job in ranAfterMs) failures.push(`Job ${job} ran twice in one process.`);
    ranAfterMs[job] = Date.now() - startAtMs;
  };
  const cpuAtStart = process.cpuUsage();
  await Promise.all(
    jobs.map((job, position) =>
      work.tick(job, { position, onRun }).catch((error: unknown) => void failures.push(String(error))),
    ),
  );
  const ticksEndedAfterMs = Date.now() - startAtMs;
  await work.untilQuiet?.();
  const cpu = process.cpuUsage(cpuAtStart);
  return {
    ranAfterMs,
    endedAfterMs: Math.max(ticksEndedAfterMs, ...Object.values(ranAfterMs)),
    cpuMs: (cpu.user + cpu.system) / 1000,
    failures,
  };
}

async function nextMessage(): Promise<unknown> {
  const [message] = (await once(process, 'message')) as [unknown];
  return message;
}

main().catch((error: unknown) => {
  console.error(error);
  process.exit(1);
});
