import type { InjectionToken, ModuleMetadata, OptionalFactoryDependency, Type } from '@nestjs/common';
import type { DataSource } from 'typeorm';
import type { CloseOptions, JobGuard } from '../../guard';
import type { DatabaseSource } from '../drivers/driver-of';
import type { PoolGuardOptions } from '../sql/create-guard';

/** The options of the module's guard: all options of `createJobGuard`, and those of the module. */
export interface CronlatchOptions extends PoolGuardOptions {
  /**
   * The database, for an application without TypeORM: an address such as `postgres://user:password@host/database`, or
   * your pool of mysql2 or pg, or your database of better-sqlite3. The module never closes these. You cannot combine it
   * with `dataSource`. If it is there but `undefined`, the start of the application rejects.
   */
  readonly source?: DatabaseSource | undefined;
  /** Default without `source`: the `DataSource` that TypeOrmModule provides. */
  readonly dataSource?: DataSource | undefined;
  /**
   * An existing guard, for example with another lock provider. You can combine it only with `close`. The application
   * closes the guard; you close what you created it from.
   */
  readonly guard?: JobGuard | undefined;
  /** How long to wait for running jobs on shutdown. Default: 20 s; their signals abort 5 s before the end. */
  readonly close?: CloseOptions | undefined;
}

export interface CronlatchModuleOptions extends Omit<CronlatchOptions, 'dataSource'> {
  /** A DataSource, or its token, such as `getDataSourceToken('jobs')`. Default without `source`: the `DataSource` that TypeOrmModule provides. */
  readonly dataSource?: DataSource | InjectionToken | undefined;
}

export interface CronlatchOptionsFactory {
  createCronlatchOptions(): Promise<CronlatchOptions> | CronlatchOptions;
}

/** Pass one of `useFactory`, `useClass` and `useExisting`. */
export interface CronlatchModuleAsyncOptions extends Pick<ModuleMetadata, 'imports'> {
  /** The token of a DataSource. Only a token: Nest must resolve it before the options are known. */
  readonly dataSource?: InjectionToken | undefined;
  readonly inject?: (InjectionToken | OptionalFactoryDependency)[] | undefined;
  // eslint-disable-next-line @typescript-eslint/no-explicit-any -- only the factory knows what is injected
  readonly useFactory?: ((...args: any[]) => Promise<CronlatchOptions> | CronlatchOptions) | undefined;
  readonly useClass?: Type<CronlatchOptionsFactory> | undefined;
  readonly useExisting?: InjectionToken<CronlatchOptionsFactory> | undefined;
}
