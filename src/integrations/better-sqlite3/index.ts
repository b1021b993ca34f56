/**
 * Creates a guard from better-sqlite3: an open database, or the address of a file. It has the tables, locks, and
 * transactions that complete a run.
 *
 * @packageDocumentation
 */
import './peer';
import { readSqlite, type SqliteSource } from '../../storage/better-sqlite3/sqlite-driver';
import { sqlEntry, type SqlEntry } from '../sql/entry';

export type { SqliteSource } from '../../storage/better-sqlite3/sqlite-driver';
export type { SqlLockProviderOptions } from '../../storage/sql/database/sql-lock-provider';
export type { SchemaFinding, SchemaFindingCode } from '../../storage/sql/schema/schema-finding';
export type { CompleteRunOptions } from '../sql/completion';
export type { CreateJobGuardOptions } from '../sql/create-guard';
export type { SqlEntry } from '../sql/entry';
export type { TablesOptions } from '../sql/tables';
export { completeRunIn, inRunTransaction } from './transactions';

const entry: SqlEntry<SqliteSource> = sqlEntry(readSqlite);

export const createJobGuard: SqlEntry<SqliteSource>['createJobGuard'] = entry.createJobGuard;
export const createTables: SqlEntry<SqliteSource>['createTables'] = entry.createTables;
export const verifySchema: SqlEntry<SqliteSource>['verifySchema'] = entry.verifySchema;

/** Keeps locks in a table of a SQLite file, for a lock manager, a guard or a provider of your own. */
export class BetterSqlite3LockProvider extends entry.LockProvider {}
