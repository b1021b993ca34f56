import type { DiscoveryService } from '@nestjs/core';
import type { SchedulerRegistry } from '@nestjs/schedule';
import { InvalidLockUseError } from '../../core';
import type { CloseOptions, JobGuard } from '../../guard';
import { signalExitListeners } from '../../guard/closing/closing';
import { bindGuard } from '../../guard/configured-guard';
import { callsOf, type Calls } from '../../guard/calls/calls';
import { discover, type DiscoveredMethod } from './discovered-methods';
import { attachScheduledTimes } from './scheduled-times';

/** Declares the jobs of an application to its guard at startup, and closes the guard at shutdown. */
export class GuardedApplication {
  readonly #calls: Calls;
  #hasStarted = false;

  constructor(
    private readonly guard: JobGuard,
    private readonly discovery: DiscoveryService,
    private readonly close: CloseOptions | undefined,
  ) {
    // A test can override the provider of the guard with any object.
    this.#calls = callsOf(guard, 'CronlatchModule');
  }

  /** Runs before any job: @nestjs/schedule mounts the jobs in `onApplicationBootstrap`, and no overdue run starts earlier. */
  async onModuleInit(): Promise<void> {
    try {
      this.#checkSingleModule();
      this.#declareJobs();
    } catch (error) {
      await this.guard.close();
      throw error;
    }
  }

  /** Only now overdue runs may start. Before, the application may be incomplete, and its start can still fail. */
  onApplicationBootstrap(): void {
    this.#hasStarted = true;
    this.#calls.announce();
  }

  /** Uses this hook because the application's DataSource closes in `onApplicationShutdown`. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.guard.close(this.close);
  }

  #declareJobs(): void {
    const { guard } = this;
    const { instances, registries } = discover(this.discovery);
    const methods = [...instances.values()].flat();
    this.#calls.admit(
      methods.map((method) => ({
        ...method,
        isReady: () => this.#hasStarted && !isDisabled(method, registries[0]),
      })),
    );
    warnOfMounting(this.#calls, methods, registries.length);
    // Binds instances without a found lock too, because another decorator may hide the guarded method.
    for (const instance of instances.keys()) bindGuard(instance, guard);
    for (const each of registries) attachScheduledTimes(each, guard);
    warnOfMissingHooks(guard, this.#calls);
  }

  #checkSingleModule(): void {
    const ours = this.discovery.getProviders().filter(({ token }) => token === GuardedApplication);
    if (ours.length <= 1) return;
    throw new InvalidLockUseError(
      'CronlatchModule is imported twice with different options, so each job would belong to two guards. The module is global: import it once, in the root module.',
    );
  }
}

/** Whether `@Cron` has `disabled: true` and the application has not started the job since. */
function isDisabled({ cron }: DiscoveredMethod, registry: SchedulerRegistry | undefined): boolean {
  if (cron?.disabled !== true) return false;
  // A job without a name cannot be started later.
  const { name } = cron;
  if (typeof name !== 'string' || registry?.doesExist('cron', name) !== true) return true;
  return !registry.getCronJob(name).isActive;
}

function warnOfMounting(calls: Calls, methods: readonly DiscoveredMethod[], importCount: number): void {
  for (const { place, isHidden, isScheduled, isTwice } of methods) {
    const warn = (why: string): void => calls.warn(`${place} is scheduled, but ${why}`);
    if (isHidden)
      warn('another decorator hides this from Nest, so nothing calls it. Move the schedule to the top.');
    if (isScheduled && isTwice)
      warn(
        'its class is provided under two tokens. @nestjs/schedule mounts the job for each token, so every tick fires twice. Remove useExisting, or move the schedule to a class of its own.',
      );
    if (isScheduled && importCount > 1)
      warn(
        'ScheduleModule.forRoot() is imported twice. Each import mounts the job, so two cron jobs call it at every tick. Import it once, in the root module.',
      );
  }
  const scheduled = methods.find((method) => method.isScheduled);
  if (scheduled !== undefined && importCount === 0)
    calls.warn(
      `${scheduled.place} is scheduled, but nothing calls it. Import ScheduleModule.forRoot() of @nestjs/schedule.`,
    );
}

/** Checks at the first tick, because `main.ts` has finished by then. */
function warnOfMissingHooks(guard: JobGuard, calls: Calls): void {
  const stop = guard.on('run:started', ({ scheduledAt }) => {
    if (scheduledAt === undefined) return;
    stop();
    if (process.listenerCount('SIGTERM') > signalExitListeners()) return;
    calls.warn(
      'Nothing listens to SIGTERM, so the signal would end this process in the middle of its jobs. Call app.enableShutdownHooks() in main.ts.',
    );
  });
}
