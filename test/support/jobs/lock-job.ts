import type { JobGuard } from 'cronlatch';
import { callsOf } from '#cronlatch/guard/calls/calls';
import type { LabelledConfiguration } from '#cronlatch/guard/jobs/job-guard-options';

/** Schedules a job that has only a lock, so that it is in the register of jobs. Only the test calls it. */
export function declareLockJob(
  guard: JobGuard,
  configuration: LabelledConfiguration,
  task: () => unknown = () => {},
): void {
  const schedules = [{ expression: '0 3 * * *', timeZone: 'UTC', dialect: 'unix' } as const];
  callsOf(guard).admit([{ place: 'declareLockJob', configuration, call: () => task, schedules }]);
}
