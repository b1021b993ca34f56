/**
 * Creates a guard from a TypeORM DataSource: tables, locks, runs, and transactions that complete a run.
 *
 * @packageDocumentation
 */
import './peer';
export type { CreateJobGuardOptions } from '../sql/create-guard';
export { createJobGuard } from './guard';
export type { RunTransactionOptions } from '../sql/run-transaction';
export { completeRunIn, inRunTransaction } from './transactions';
export * from '../../storage/typeorm';
