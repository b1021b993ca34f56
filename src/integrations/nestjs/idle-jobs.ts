import type { SchedulerRegistry } from '@nestjs/schedule';
import type { DiscoveredMethod } from './discovered-methods';

/** Whether `@Cron` says that the job is not to run here, `disabled: true`, and nobody has started it since. */
export function isIdle({ cron }: DiscoveredMethod, registry: SchedulerRegistry | undefined): boolean {
  if (cron?.disabled !== true) return false;
  // Without a name nobody can get hold of it.
  const { name } = cron;
  if (typeof name !== 'string' || registry?.doesExist('cron', name) !== true) return true;
  return !registry.getCronJob(name).isActive;
}
