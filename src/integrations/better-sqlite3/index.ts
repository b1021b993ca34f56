/**
 * Creates a guard from better-sqlite3: an open database, or the address of a file. It has the tables, and transactions
 * that complete a run.
 *
 * @packageDocumentation
 */
import './peer';
export type { SqliteSource } from '../../storage/better-sqlite3/sqlite-source';
export type { SchemaFinding, SchemaFindingCode } from '../../storage/sql/schema/schema-finding';
export type { CreateJobGuardOptions } from '../sql/create-guard';
export type { TablesOptions } from '../sql/tables';
export { createJobGuard, createTables, verifySchema } from './guard';
export { completeRunIn, inRunTransaction } from './transactions';
