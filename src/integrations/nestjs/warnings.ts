import type { JobGuard } from '../../guard';
import { integrationOf, type GuardIntegration } from '../../guard/integration';
import type { DiscoveredMethod } from './discovered-methods';

export function warnOfAliases(
  integration: GuardIntegration,
  methods: readonly DiscoveredMethod[],
  aliased: ReadonlySet<unknown>,
): void {
  for (const { place } of methods.filter((method) => method.isScheduled && aliased.has(method.instance))) {
    integration.warn(
      `${place} is scheduled, but its class is provided under two tokens. @nestjs/schedule mounts the job for each token, so every tick fires twice. Remove useExisting, or move the schedule to a class of its own.`,
    );
  }
}

export function warnOfNoSchedule(integration: GuardIntegration, methods: readonly DiscoveredMethod[]): void {
  const scheduled = methods.find((method) => method.isScheduled);
  if (scheduled === undefined) return;
  integration.warn(
    `${scheduled.place} is scheduled, but nothing calls it. Import ScheduleModule.forRoot() of @nestjs/schedule.`,
  );
}

/** Checks at the first tick, because `main.ts` has finished by then. */
export function warnOfMissingHooks(guard: JobGuard): void {
  const stop = guard.on('run:started', ({ scheduledAt }) => {
    if (scheduledAt === undefined) return;
    stop();
    if (process.listenerCount('SIGTERM') > 0) return;
    integrationOf(guard).warn(
      'Nothing listens to SIGTERM, so the signal would end this process in the middle of its jobs. Call app.enableShutdownHooks() in main.ts.',
    );
  });
}
