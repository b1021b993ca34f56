import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency, Type } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { CloseOptions, JobGuard } from '../../guard';
import type { CreateJobGuardOptions } from '../typeorm';

/** What the module makes its guard of: everything that `createJobGuard` takes, and where the application has it. */
export interface CronlatchOptions extends CreateJobGuardOptions {
  /** Default: what TypeOrmModule provides as `DataSource`. */
  readonly dataSource?: DataSource | undefined;
  /**
   * A guard that is there already, for example with another lock provider, instead of all other options but `close`. It
   * is the application's from then on, and closed with it; what it was made of is the caller's to close.
   */
  readonly guard?: JobGuard | undefined;
  /** How long running jobs are waited for on shutdown. Default: 20 s, their signals aborting 5 s before. */
  readonly close?: CloseOptions | undefined;
}

export interface CronlatchModuleOptions extends Omit<CronlatchOptions, 'dataSource'> {
  /** A DataSource, or the token of one, such as `getDataSourceToken('jobs')`. Default: what TypeOrmModule provides as `DataSource`. */
  readonly dataSource?: DataSource | InjectionToken | undefined;
}

export interface CronlatchOptionsFactory {
  createCronlatchOptions(): Promise<CronlatchOptions> | CronlatchOptions;
}

/** One of `useFactory`, `useClass` and `useExisting`. */
export interface CronlatchModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** The token of a DataSource: what tokens stand for must be known before the options are. */
  readonly dataSource?: InjectionToken | undefined;
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- what is injected is known to the factory alone
  readonly useFactory?: ((...args: any[]) => Promise<CronlatchOptions> | CronlatchOptions) | undefined;
  readonly useClass?: Type<CronlatchOptionsFactory> | undefined;
  readonly useExisting?: InjectionToken<CronlatchOptionsFactory> | undefined;
}
