import type { JobGuard } from 'cronlatch';
import type { Job } from './job';

export function runEvery(
  milliseconds: number,
  guard: JobGuard,
  { guarded, run }: Pick<Job, 'guarded' | 'run'>,
): NodeJS.Timeout {
  const tick = guard.wrap(guarded, run);
  return setInterval(() => void tick(), milliseconds);
}
