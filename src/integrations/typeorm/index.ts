/**
 * Creates a guard from a TypeORM DataSource: tables, locks, runs, and transactions that complete a run.
 *
 * @packageDocumentation
 */
import './peer';
export { completeRunIn } from './complete-run-in';
export type { CreateJobGuardOptions } from '../sql/create-guard';
export { createJobGuard } from './create-job-guard';
export type { RunTransactionOptions } from '../sql/run-transaction';
export { inRunTransaction } from './in-run-transaction';
export * from '../../storage/typeorm';
