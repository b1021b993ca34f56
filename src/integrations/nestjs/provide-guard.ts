import { Logger, type InjectionToken } from '@nestjs/common';
import type * as TypeOrm from 'typeorm';
import { InvalidLockConfigurationError, NotConfiguredError } from '../../core';
import { isMissing } from '../../core/peer';
import type { JobGuard } from '../../guard';
import { checkCloseOptions } from '../../guard/closing/closing';
import { requireGuard } from '../../guard/configured-guard';
import type * as Integration from '../typeorm';
import type { CronlatchOptions } from './options';

const MODULE = 'CronlatchModule';

/** The class that TypeOrmModule provides the application's DataSource as; `undefined` without TypeORM. */
export function defaultDataSourceToken(): InjectionToken | undefined {
  return optionalTypeOrm()?.DataSource;
}

/**
 * @param provided what was found where the DataSource was to be
 * @throws NotConfiguredError when there is nothing to make a guard of
 * @throws InvalidLockConfigurationError for a way to close that cannot be meant; and what `createJobGuard` throws
 */
export async function provideGuard(
  options: CronlatchOptions,
  provided: TypeOrm.DataSource | undefined,
): Promise<JobGuard> {
  const { dataSource = provided, guard, logger = new Logger('Cronlatch'), close = {} } = options;
  checkCloseOptions(close);
  if (guard !== undefined) {
    refuseBesideGuard(options);
    return requireGuard(guard, MODULE);
  }
  if (dataSource !== undefined) return await integration().createJobGuard(dataSource, { ...options, logger });
  throw new NotConfiguredError(
    `${MODULE} finds no DataSource to keep its locks in: import TypeOrmModule.forRoot(…) in the root module, ` +
      `or give ${MODULE} a dataSource, the token of one, or a guard.`,
  );
}

const BESIDE_GUARD: readonly string[] = ['guard', 'close'] satisfies (keyof CronlatchOptions)[];

/** @throws InvalidLockConfigurationError naming what stands beside the guard */
export function refuseBesideGuard(options: object): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined || BESIDE_GUARD.includes(name)) continue;
    throw new InvalidLockConfigurationError(
      `${MODULE} was given a guard, and ${name} beside it, which only says how one is made. Keep one of them.`,
    );
  }
}

// By require, and not before they are needed: a guard with locks from elsewhere needs no TypeORM, and Jest has no import().
/* eslint-disable @typescript-eslint/no-require-imports */
function integration(): typeof Integration {
  return require('../typeorm') as typeof Integration;
}

function optionalTypeOrm(): typeof TypeOrm | undefined {
  try {
    // Inside of try a bundler takes it for optional.
    return require('typeorm') as typeof TypeOrm;
  } catch (error) {
    if (isMissing('typeorm', error)) return undefined;
    throw error;
  }
}
