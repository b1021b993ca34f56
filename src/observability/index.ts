/**
 * Metrics and spans of a guard for OpenTelemetry.
 *
 * @packageDocumentation
 */
import './peer';
export type { InstrumentOptions } from './instrument-guard';
export { instrumentGuard } from './instrument-guard';
