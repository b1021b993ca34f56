import { Logger, type InjectionToken } from '@nestjs/common';
import type * as TypeOrm from 'typeorm';
import { InvalidLockConfigurationError, NotConfiguredError } from '../../core';
import { isMissing } from '../../core/peer';
import type { JobGuard, Logger as GuardLogger } from '../../guard';
import { checkCloseOptions } from '../../guard/closing/closing';
import { requireGuard } from '../../guard/configured-guard';
import { LINE_START } from '../../guard/log/logger';
import type * as Integration from '../typeorm';
import type { CronlatchOptions } from './options';

const MODULE = 'CronlatchModule';

/** The token under which TypeOrmModule provides the application's DataSource, or `undefined` without TypeORM. */
export function defaultDataSourceToken(): InjectionToken | undefined {
  return optionalTypeOrm()?.DataSource;
}

/**
 * @param provided the DataSource that Nest injected, if it found one
 * @throws NotConfiguredError if there is neither a guard nor a DataSource
 * @throws InvalidLockConfigurationError for invalid `close` options
 * @throws the errors of `createJobGuard`
 */
export async function provideGuard(
  options: CronlatchOptions,
  provided: TypeOrm.DataSource | undefined,
): Promise<JobGuard> {
  const { dataSource = provided, guard, logger = nestLogger(), close = {}, ...others } = options;
  checkCloseOptions(close);
  if (guard !== undefined) {
    checkGuardAlone(options);
    return requireGuard(guard, MODULE);
  }
  if (dataSource !== undefined) return await integration().createJobGuard(dataSource, { ...others, logger });
  throw new NotConfiguredError(
    `${MODULE} found no DataSource for its locks. Import TypeOrmModule.forRoot(…) in the root module, ` +
      `or pass ${MODULE} a dataSource, its token, or a guard.`,
  );
}

/**
 * Without `debug`, which Nest prints by default, because skips are normal on all instances but one. Nest prints the context
 * before each line.
 */
function nestLogger(): GuardLogger {
  const nest = new Logger('Cronlatch');
  return {
    error: (line) => nest.error(line.slice(LINE_START.length)),
    warn: (line) => nest.warn(line.slice(LINE_START.length)),
    info: (line) => nest.log(line.slice(LINE_START.length)),
  };
}

const ALLOWED_WITH_GUARD: readonly string[] = ['guard', 'close'] satisfies (keyof CronlatchOptions)[];

/** @throws InvalidLockConfigurationError naming the option that cannot be combined with a guard */
export function checkGuardAlone(options: object): void {
  for (const [name, value] of Object.entries(options) as [string, unknown][]) {
    if (value === undefined || ALLOWED_WITH_GUARD.includes(name)) continue;
    throw new InvalidLockConfigurationError(
      `${MODULE} got both a guard and ${name}, which only applies when the module creates the guard. Keep one of them.`,
    );
  }
}

// Loaded only when needed, because a guard with another lock store needs no TypeORM. Uses require, because Jest has no
// import().
/* eslint-disable @typescript-eslint/no-require-imports */
function integration(): typeof Integration {
  return require('../typeorm') as typeof Integration;
}

function optionalTypeOrm(): typeof TypeOrm | undefined {
  try {
    // Inside try, bundlers treat the package as optional.
    return require('typeorm') as typeof TypeOrm;
  } catch (error) {
    if (isMissing('typeorm', error)) return undefined;
    throw error;
  }
}
