import {
  Module,
  type DynamicModule,
  type FactoryProvider,
  type InjectionToken,
  type Provider,
} from '@nestjs/common';
import { DiscoveryModule, DiscoveryService } from '@nestjs/core';
import { InvalidLockConfigurationError } from '../../core';
import { checkOptionNames } from '../../core/options';
import { JobGuard } from '../../guard';
import { CronlatchHealthIndicator } from './cronlatch-health-indicator';
import { GuardedApplication } from './guarded-application';
import type {
  CronlatchModuleAsyncOptions,
  CronlatchModuleOptions,
  CronlatchOptions,
  CronlatchOptionsFactory,
} from './options';
import { checkCombination, defaultDataSourceToken, provideGuard } from './provide-guard';

const ASYNC_OPTIONS = ['imports', 'dataSource', 'inject', 'useFactory', 'useClass', 'useExisting'];
const OPTIONS = Symbol.for('cronlatch.v0.nestjs-options');

/**
 * Guards the jobs of an application: the methods of its providers and controllers with `@SchedulerLock` or `@OncePer…`,
 * no matter what calls them. You can combine these in any order with `@Cron`, `@Interval` and `@Timeout` of
 * @nestjs/schedule. Import the module once, in the root module. It is global, so you can inject `JobGuard` anywhere.
 *
 * The module checks all jobs before the first one is mounted, and an invalid job stops the start of the application. On
 * shutdown it waits for running jobs while the DataSource is still open. For that, `main.ts` must call
 * `app.enableShutdownHooks()`.
 */
export class CronlatchModule {
  /**
   * The start of the application rejects with a NotConfiguredError if there is neither a source nor a DataSource, with an
   * InvalidLockConfigurationError for an invalid job, with an InvalidLockUseError for a job of a request-scoped or
   * transient class, and with the errors of `createJobGuard`.
   *
   * @throws InvalidLockConfigurationError for a guard combined with options that only apply when the module creates one,
   * and for both a source and a DataSource
   */
  static forRoot(options: CronlatchModuleOptions = {}): DynamicModule {
    checkCombination(options);
    const { dataSource, ...others } = options;
    const isInstance = typeof dataSource === 'object';
    const given: CronlatchOptions = isInstance ? { ...others, dataSource } : others;
    const token = isInstance ? undefined : (dataSource ?? defaultDataSourceToken());
    return moduleOf([{ provide: OPTIONS, useValue: given }], token);
  }

  /**
   * Like `forRoot`, with options that are known later. Invalid options make the start of the application reject.
   *
   * @throws InvalidLockConfigurationError without one of `useFactory`, `useClass` and `useExisting`
   */
  static forRootAsync(options: CronlatchModuleAsyncOptions): DynamicModule {
    checkOptionNames(options, ASYNC_OPTIONS, 'CronlatchModule.forRootAsync');
    const token = options.dataSource ?? defaultDataSourceToken();
    return {
      ...moduleOf(optionsFrom(options), token),
      imports: [DiscoveryModule, ...(options.imports ?? [])],
    };
  }
}
Module({})(CronlatchModule);

let imports = 0;

/** Nest 10 silently drops the second of two imports that look the same to it. With this provider they differ. */
function importMark(): Provider {
  imports += 1;
  return { provide: `CronlatchModule import ${imports}`, useValue: imports };
}

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
    providers: [...options, guard, health, GUARDED_APPLICATION, importMark()],
    exports: [JobGuard, CronlatchHealthIndicator],
  };
}

const GUARDED_APPLICATION: FactoryProvider = {
  provide: GuardedApplication,
  useFactory: (guard: JobGuard, discovery: DiscoveryService, { close }: CronlatchOptions) =>
    new GuardedApplication(guard, discovery, close),
  inject: [JobGuard, DiscoveryService, OPTIONS],
};

function optionsFrom({ useFactory, useClass, useExisting, inject }: CronlatchModuleAsyncOptions): Provider[] {
  if (useFactory !== undefined) return [{ provide: OPTIONS, useFactory, inject: inject ?? [] }];
  const factory = useExisting ?? useClass;
  if (factory === undefined)
    throw new InvalidLockConfigurationError(
      'CronlatchModule.forRootAsync needs one of useFactory, useClass and useExisting.',
    );
  const provider: Provider = {
    provide: OPTIONS,
    useFactory: (given: CronlatchOptionsFactory) => given.createCronlatchOptions(),
    inject: [factory],
  };
  return useExisting === undefined && useClass !== undefined ? [provider, useClass] : [provider];
}
