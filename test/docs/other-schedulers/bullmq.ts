import { Queue, WaitingError, Worker, type ConnectionOptions, type Job as QueueJob } from 'bullmq';
import type { JobGuard } from 'cronlatch';
import type { Job } from './job';

/** BullMQ keeps the scheduled time of a job that a job scheduler created. */
function scheduledTime({ opts: { prevMillis } }: QueueJob): Date | undefined {
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
  // Only after a change: it would replace a tick that waits since all workers were down by the next tick.
  if (known?.pattern !== expression || known.tz !== timeZone)
    await queue.upsertJobScheduler(name, { pattern: expression, tz: timeZone });
  await queue.close();

  // If the function rejects, BullMQ marks the job as failed, and the process continues.
  const schedule = { expression, timeZone, dialect: 'croner' } as const;
  const tick = guard.wrap(guarded, run, { scheduledAt: scheduledTime, schedule, onError: 'throw' });
  const worker = new Worker(
    name,
    async (job, token) => {
      if (!guard.isClosing) return await tick(job);
      await job.moveToWait(token); // Hand the tick on, because no other instance has received it.
      throw new WaitingError();
    },
    { connection },
  );
  guard.onClose({ stop: () => worker.pause(true), close: () => worker.close() });
  return worker;
}
