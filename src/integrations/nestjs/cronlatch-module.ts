import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { SchedulerRegistry } from '@nestjs/schedule';
import { InvalidLockConfigurationError } from '../../core';
import { JobGuard } from '../../guard';
import { CronlatchHealthIndicator } from './cronlatch-health-indicator';
import { GuardedApplication } from './guarded-application';
import type {
  CronlatchModuleAsyncOptions,
  CronlatchModuleOptions,
  CronlatchOptions,
  CronlatchOptionsFactory,
} from './options';
import { defaultDataSourceToken, provideGuard, refuseBesideGuard } from './provide-guard';

const OPTIONS = Symbol.for('cronlatch.v0.nestjs-options');

/**
 * Guards the jobs of an application: methods of its providers and controllers with `@SchedulerLock` or `@OncePer…`, by
 * whomever they are called, in either order with `@Cron`, `@Interval` and `@Timeout` of @nestjs/schedule. Import it once,
 * in the root module. It is global: inject `JobGuard` wherever it is needed.
 *
 * Everything is checked before the first job is mounted, and the application does not start when something cannot be
 * meant. On shutdown running jobs are waited for while the DataSource is still open; for that, `main.ts` must call
 * `app.enableShutdownHooks()`.
 */
export class CronlatchModule {
  /**
   * The start of the application rejects with a NotConfiguredError without a DataSource, with an
   * InvalidLockConfigurationError for jobs that cannot be meant, with an InvalidLockUseError for those that no guard would
   * know, and as `createJobGuard` does.
   *
   * @throws InvalidLockConfigurationError for a guard with options beside it that only say how one is made
   */
  static forRoot(options: CronlatchModuleOptions = {}): DynamicModule {
    if (options.guard !== undefined) refuseBesideGuard(options);
    const { dataSource, ...others } = options;
    const isInstance = typeof dataSource === 'object';
    const given: CronlatchOptions = isInstance ? { ...others, dataSource } : others;
    const token = isInstance ? undefined : (dataSource ?? defaultDataSourceToken());
    return moduleOf([{ provide: OPTIONS, useValue: given }], token);
  }

  /**
   * The same with options that are known later, and refused when they are.
   *
   * @throws InvalidLockConfigurationError without a way to them
   */
  static forRootAsync(options: CronlatchModuleAsyncOptions): DynamicModule {
    const token = options.dataSource ?? defaultDataSourceToken();
    return {
      ...moduleOf(optionsFrom(options), token),
      imports: [DiscoveryModule, ...(options.imports ?? [])],
    };
  }
}
Module({})(CronlatchModule);

function moduleOf(options: Provider[], dataSource: InjectionToken | undefined): DynamicModule {
  const guard: FactoryProvider = {
    provide: JobGuard,
    useFactory: provideGuard,
    inject: [OPTIONS, ...(dataSource === undefined ? [] : [{ token: dataSource, optional: true }])],
  };
  const health: FactoryProvider = {
    provide: CronlatchHealthIndicator,
    useFactory: (given: JobGuard) => new CronlatchHealthIndicator(given),
    inject: [JobGuard],
  };
  return {
    module: CronlatchModule,
    global: true,
    imports: [DiscoveryModule],
    providers: [...options, guard, health, GUARDED_APPLICATION],
    exports: [JobGuard, CronlatchHealthIndicator],
  };
}

const GUARDED_APPLICATION: FactoryProvider = {
  provide: GuardedApplication,
  useFactory: (
    guard: JobGuard,
    { close }: CronlatchOptions,
    discovery: DiscoveryService,
    scanner: MetadataScanner,
    modules: ModulesContainer,
    registry: SchedulerRegistry | undefined,
  ) => new GuardedApplication(guard, { discovery, scanner, modules, registry }, CronlatchModule, close),
  inject: [
    JobGuard,
    OPTIONS,
    DiscoveryService,
    MetadataScanner,
    ModulesContainer,
    { token: SchedulerRegistry, optional: true },
  ],
};

function optionsFrom({ useFactory, useClass, useExisting, inject }: CronlatchModuleAsyncOptions): Provider[] {
  if (useFactory !== undefined) return [{ provide: OPTIONS, useFactory, inject: inject ?? [] }];
  const factory = useExisting ?? useClass;
  if (factory === undefined) {
    throw new InvalidLockConfigurationError(
      'CronlatchModule.forRootAsync needs one of useFactory, useClass and useExisting.',
    );
  }
  const made: Provider = {
    provide: OPTIONS,
    useFactory: (given: CronlatchOptionsFactory) => given.createCronlatchOptions(),
    inject: [factory],
  };
  return useExisting === undefined && useClass !== undefined ? [made, useClass] : [made];
}
