import Database from 'better-sqlite3';
import { existsSync } from 'node:fs';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/describe-value';
import type { SqlDatabase } from '../sql/database/sql-database';
import { OWN_SQLITE_OPTIONS, sqliteDatabase } from './sqlite-database';

/** An address such as `sqlite:jobs.db`, or a database that the application has opened with better-sqlite3. */
export type SqliteSource = string | Database.Database;

/** The database of an application that uses better-sqlite3. */
export interface SqliteApplication {
  readonly database: SqlDatabase;
  readonly owner: object;
  /** The connection of the application, or one that this opens for it. */
  readonly handle: () => Database.Database;
  /** Closes what this has opened. */
  readonly close: () => void;
}

/** @throws InvalidLockConfigurationError naming what is wrong */
export function sqliteApplication(
  source: SqliteSource,
  { creates }: { readonly creates: boolean },
): SqliteApplication {
  const given = typeof source === 'string' ? undefined : checkedHandle(source);
  const file = given === undefined ? fileOf(source as string) : given.memory ? ':memory:' : given.name;
  const options = { ...OWN_SQLITE_OPTIONS, fileMustExist: !creates };
  let opened: Database.Database | undefined;
  const handle = (): Database.Database =>
    given ?? (opened ??= new Database(file, { fileMustExist: !file.includes(':memory:') }));
  return {
    database: sqliteDatabase({
      file,
      open() {
        const isNew = creates && !existsSync(file);
        const own = new Database(file, options);
        if (isNew) own.pragma('journal_mode = WAL');
        return own;
      },
      shared: handle,
    }),
    owner: given ?? handle,
    handle,
    close: () => void opened?.close(),
  };
}

function fileOf(address: string): string {
  const file = address.replace(/^sqlite:(\/\/(?=\/))?/i, '');
  if (file !== address && file !== '') return file;
  throw new InvalidLockConfigurationError(
    `cronlatch/better-sqlite3 needs an address that begins with sqlite: and names a file, as in sqlite:jobs.db.`,
  );
}

function checkedHandle(source: unknown): Database.Database {
  if (typeof source !== 'object' || source === null || !('prepare' in source && 'inTransaction' in source)) {
    const what =
      typeof source === 'object' && source !== null ? source.constructor.name : describeValue(source);
    throw new InvalidLockConfigurationError(
      `cronlatch/better-sqlite3 cannot use ${what}. Pass a database that better-sqlite3 has opened, or an address such as sqlite:jobs.db.`,
    );
  }
  const database = source as Database.Database;
  if (database.open) return database;
  throw new InvalidLockUseError('The database for cronlatch/better-sqlite3 is closed. Pass an open one.');
}
