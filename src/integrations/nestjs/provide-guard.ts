/* eslint-disable @typescript-eslint/no-require-imports -- only a guard on a DataSource needs TypeORM. Jest has no import(). */
import { Logger, type InjectionToken } from '@nestjs/common';
import type * as TypeOrm from 'typeorm';
import { InvalidLockConfigurationError, NotConfiguredError } from '../../core';
import { isMissing } from '../../core/peer';
import type { JobGuard, Logger as GuardLogger } from '../../guard';
import { checkCloseOptions } from '../../guard/closing/closing';
import { requireGuard } from '../../guard/configured-guard';
import { LINE_START } from '../../guard/log/logger';
import { unusableSource } from '../../storage/sql/database/driver';
import { driverOf, PROTOCOLS, type DatabaseSource } from '../drivers/driver-of';
import { createGuard, type PoolGuardOptions } from '../sql/create-guard';
import type * as Integration from '../typeorm';
import type { CronlatchOptions } from './options';

const MODULE = 'CronlatchModule';

/**
 * @throws NotConfiguredError if there is neither a guard nor a source nor a DataSource
 * @throws InvalidLockConfigurationError for invalid `close` options, and for a source that cannot be used
 * @throws the errors of `createJobGuard`
 */
export async function provideGuard(
  options: CronlatchOptions,
  provided: TypeOrm.DataSource | undefined,
): Promise<JobGuard> {
  const { source, dataSource = provided, guard, logger = nestLogger(), close = {}, ...others } = options;
  checkCloseOptions(close);
  checkCombination(options);
  if (guard !== undefined) return requireGuard(guard, MODULE);
  const given = { ...others, logger };
  if ('source' in options) return await guardOf(source, given);
  if (dataSource !== undefined) {
    const { createJobGuard } = require('../typeorm') as typeof Integration;
    return await createJobGuard(dataSource, given);
  }
  throw new NotConfiguredError(
    `${MODULE} found no database for its locks. Pass a source: the address, or the pool of your driver. With TypeORM, import TypeOrmModule.forRoot(…) in the root module, or pass a dataSource or its token.`,
  );
}

const FORM = { subpath: MODULE, example: 'postgres://user:password@host/database' };

async function guardOf(source: DatabaseSource | undefined, options: PoolGuardOptions): Promise<JobGuard> {
  const read = driverOf(source);
  if (read !== undefined) return await createGuard(read(source, options), options);
  if (typeof source !== 'string' || source === '')
    throw unusableSource(source, FORM, 'a pool of mysql2 or pg, or a database of better-sqlite3');
  throw new InvalidLockConfigurationError(
    `The address in the source of ${MODULE} must begin with one of ${PROTOCOLS.join(', ')}.`,
  );
}

/** Without `debug`, which Nest prints by default, because most skips are normal. Nest prints the context itself. */
function nestLogger(): GuardLogger {
  const nest = new Logger('Cronlatch');
  return {
    error: (line) => nest.error(line.slice(LINE_START.length)),
    warn: (line) => nest.warn(line.slice(LINE_START.length)),
    info: (line) => nest.log(line.slice(LINE_START.length)),
  };
}

const ALLOWED_WITH_GUARD: readonly string[] = ['guard', 'close'] satisfies (keyof CronlatchOptions)[];

/** @throws InvalidLockConfigurationError naming the option that cannot be combined with a guard or a source */
export function checkCombination(options: object): void {
  const names = Object.entries(options).flatMap(([name, value]) => (value === undefined ? [] : name));
  const other = names.find((name) => !ALLOWED_WITH_GUARD.includes(name));
  if (names.includes('guard') && other !== undefined)
    throw new InvalidLockConfigurationError(
      `${MODULE} got both a guard and ${other}, which only applies when the module creates the guard. Keep one of them.`,
    );
  if (names.includes('source') && names.includes('dataSource'))
    throw new InvalidLockConfigurationError(
      `${MODULE} got both a source and a dataSource, and its guard works on one database. Keep one of them.`,
    );
}

/** The token under which TypeOrmModule provides the application's DataSource, or `undefined` without TypeORM. */
export function defaultDataSourceToken(): InjectionToken | undefined {
  try {
    // Inside try, bundlers treat the package as optional.
    return (require('typeorm') as typeof TypeOrm).DataSource;
  } catch (error) {
    if (isMissing('typeorm', error)) return undefined;
    throw error;
  }
}
