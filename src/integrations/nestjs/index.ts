/**
 * Guards the scheduled methods of a NestJS application, and reports the health of the guard.
 *
 * @packageDocumentation
 */
import './peer';
export { CronlatchHealthIndicator, type CronlatchHealth } from './cronlatch-health-indicator';
export { CronlatchModule } from './cronlatch-module';
export type {
  CronlatchModuleAsyncOptions,
  CronlatchModuleOptions,
  CronlatchOptions,
  CronlatchOptionsFactory,
} from './options';
