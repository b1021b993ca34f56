import type { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import type { SchedulerRegistry } from '@nestjs/schedule';
import { InvalidLockUseError } from '../../core';
import type { CloseOptions, JobGuard } from '../../guard';
import { bindGuard } from '../../guard/bound-guard';
import { integrationOf } from '../../guard/job-guard';
import { discover, instancesWithAlias, type DiscoveredMethod } from './discovered-methods';
import { attachScheduledTimes } from './scheduled-times';
import { warnOfAliases, warnOfMissingHooks, warnOfNoSchedule } from './warnings';

/** What an application is made of. */
export interface Application {
  readonly discovery: DiscoveryService;
  readonly scanner: MetadataScanner;
  readonly modules: ModulesContainer;
  /** `undefined` without ScheduleModule. */
  readonly registry: SchedulerRegistry | undefined;
}

/** Hands the jobs of an application to its guard when it starts, and closes the guard when it shuts down. */
export class GuardedApplication {
  #hasStarted = false;

  constructor(
    private readonly guard: JobGuard,
    private readonly application: Application,
    private readonly moduleClass: unknown,
    private readonly close: CloseOptions | undefined,
  ) {}

  /** All jobs are mounted later, in `onApplicationBootstrap`, and nothing is brought back before: none has run yet. */
  async onModuleInit(): Promise<void> {
    try {
      this.#refuseTwoModules();
      this.#takeJobs();
    } catch (error) {
      await this.guard.close();
      throw error;
    }
  }

  /** Not before: a job of an application that is still starting, or has failed to, would find half of what it needs. */
  onApplicationBootstrap(): void {
    this.#hasStarted = true;
  }

  /** The application's DataSource is open until `onApplicationShutdown`. */
  async beforeApplicationShutdown(): Promise<void> {
    await this.guard.close(this.close);
  }

  #takeJobs(): void {
    const { guard } = this;
    const { discovery, scanner, registry } = this.application;
    const instances = discover(discovery, scanner);
    const methods = [...instances.values()].flat();
    const integration = integrationOf(guard);
    integration.admit(
      methods.map((method) => ({
        ...method,
        isReady: () => this.#hasStarted && !isIdle(method, registry),
      })),
    );
    warnOfAliases(integration, methods, instancesWithAlias(discovery));
    // Also where no lock was found: it may stand below a decorator that hides it.
    for (const instance of instances.keys()) bindGuard(instance, guard);
    if (registry !== undefined) attachScheduledTimes(registry, guard);
    else warnOfNoSchedule(integration, methods);
    warnOfMissingHooks(guard);
  }

  #refuseTwoModules(): void {
    const ours = [...this.application.modules.values()].filter(
      ({ metatype }) => metatype === this.moduleClass,
    );
    if (ours.length <= 1) return;
    throw new InvalidLockUseError(
      'CronlatchModule is imported twice, with different options: each job would belong to two guards. Import it once, in the root module; it is global.',
    );
  }
}

/** Whether `@Cron` has `disabled: true`, and nobody has started the job since. */
function isIdle({ cron }: DiscoveredMethod, registry: SchedulerRegistry | undefined): boolean {
  if (cron?.disabled !== true) return false;
  // A job without a name cannot be started later.
  const { name } = cron;
  if (typeof name !== 'string' || registry?.doesExist('cron', name) !== true) return true;
  return !registry.getCronJob(name).isActive;
}
