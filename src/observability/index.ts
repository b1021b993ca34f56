/**
 * Metrics and spans of a guard for OpenTelemetry.
 *
 * @packageDocumentation
 */
import './peer';
export { instrumentGuard, type InstrumentOptions } from './instrument-guard';
