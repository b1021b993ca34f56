/**
 * Guards the scheduled methods of a NestJS application, and reports the health of the guard.
 *
 * @packageDocumentation
 */
import './peer';
export { CronlatchHealthIndicator, type CronlatchHealth } from './cronlatch-health-indicator';
export type { DatabaseSource } from '../drivers/driver-of';
export type { PoolGuardOptions } from '../sql/create-guard';
export { CronlatchModule } from './cronlatch-module';
export type * from './options';
