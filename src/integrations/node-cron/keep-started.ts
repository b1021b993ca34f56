import type { ScheduledTask } from 'node-cron';
import type { JobGuard } from '../../guard';
import { integrationOf } from '../../guard/integration';

const AGAIN_AFTER_MS = 1000;
/** When it could not be started: what it lacks may come back. */
const NEXT_TRY_AFTER_MS = 60_000;

/** node-cron leaves a file whose process has died, or could not be started, without one, and so without ticks, for good. */
export function keepStarted(task: ScheduledTask, guard: JobGuard): void {
  const { name } = task;
  let timer: NodeJS.Timeout | undefined;
  const cancel = (): void => clearTimeout(timer);
  const startIn = (delayMs: number, why: string): void => {
    cancel();
    if (guard.isClosing) return;
    integrationOf(guard).warn(`${why} It is started again in ${delayMs / 1000} s.`);
    timer = setTimeout(start, delayMs).unref();
  };
  const start = (): void => {
    if (guard.isClosing) return;
    Promise.resolve(task.start()).catch((error: unknown) =>
      startIn(NEXT_TRY_AFTER_MS, `The process of task '${name}' could not be started: ${String(error)}.`),
    );
  };
  task.on('task:failed', ({ error }) =>
    startIn(AGAIN_AFTER_MS, `The process of task '${name}' has ended: ${String(error)}.`),
  );
  for (const event of ['task:stopped', 'task:destroyed'] as const) task.on(event, cancel);
  start(); // It is being started: this one hears how that ends.
}
