import { Queue, WaitingError, Worker, type ConnectionOptions, type Job as QueueJob } from 'bullmq';
import type { JobGuard } from 'cronlatch';
import type { Job } from './job';

/** Where a job scheduler has made the job, BullMQ keeps the instant that it was made for. */
function dueAt({ opts: { prevMillis } }: QueueJob): Date | undefined {
  return prevMillis === undefined ? undefined : new Date(prevMillis);
}

export async function scheduleWithBullMQ(
  connection: ConnectionOptions,
  guard: JobGuard,
  { expression, timeZone, guarded, run }: Job,
): Promise<Worker> {
  const { name } = guarded;
  const queue = new Queue(name, { connection });
  const known = await queue.getJobScheduler(name);
  // Only where something has changed: a tick that waits since all workers were down would be replaced by the next one.
  if (known?.pattern !== expression || known.tz !== timeZone)
    await queue.upsertJobScheduler(name, { pattern: expression, tz: timeZone });
  await queue.close();

  // A job that rejects is a failed one to BullMQ, and its process goes on.
  const tick = guard.wrap(guarded, run, { scheduledAt: dueAt, onError: 'throw' });
  const worker = new Worker(
    name,
    async (job, token) => {
      if (!guard.isClosing) return await tick(job);
      await job.moveToWait(token); // No other instance has heard of this tick: it is handed on.
      throw new WaitingError();
    },
    { connection },
  );
  guard.onClose({ stop: () => worker.pause(true), close: () => worker.close() });
  return worker;
}
