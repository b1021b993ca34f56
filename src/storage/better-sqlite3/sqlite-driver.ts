import Database from 'better-sqlite3';
import { existsSync } from 'node:fs';
import { InvalidLockConfigurationError, InvalidLockUseError } from '../../core';
import { unusableSource, type ReadSource } from '../sql/database/driver';
import { refuseCrashingDriver } from './installed-driver';
import { OWN_SQLITE_OPTIONS, sqliteDatabase } from './sqlite-database';

/** An address such as `sqlite:jobs.db`, or a database that the application has opened with better-sqlite3. */
export type SqliteSource = string | Database.Database;

export const SUBPATH = 'cronlatch/better-sqlite3';
const FORM = { subpath: SUBPATH, example: 'sqlite:jobs.db' };

export const readSqlite: ReadSource<SqliteSource, Database.Database> = (source, { creates = false } = {}) => {
  refuseCrashingDriver();
  const given = typeof source === 'string' && source !== '' ? undefined : checkedHandle(source);
  const file = given === undefined ? fileOf(source as string) : given.memory ? ':memory:' : given.name;
  let opened: Database.Database | undefined;
  return {
    ...sqliteDatabase({
      file,
      open() {
        const isNew = !existsSync(file);
        if (isNew && !creates)
          throw new Error('the file does not exist. Create it with npx cronlatch init, or correct its path');
        const own = new Database(file, { ...OWN_SQLITE_OPTIONS, fileMustExist: !creates });
        if (isNew) own.pragma('journal_mode = WAL');
        return own;
      },
      shared: given && (() => given),
    }),
    subpath: SUBPATH,
    lend: () => given ?? (opened ??= new Database(file, { fileMustExist: true })),
    close: () => void opened?.close(),
  };
};

function fileOf(address: string): string {
  const file = address.replace(/^sqlite:(\/\/(?=\/))?/i, '');
  if (file.includes(':memory:'))
    throw new InvalidLockConfigurationError(
      `cronlatch/better-sqlite3 cannot use an address in memory, because such a database exists only in the connection that opened it. Open it with better-sqlite3, and pass that.`,
    );
  // In other libraries, a name after two slashes is a relative file. As a path, it would lie in the root folder.
  if (/^\/\/[^/]/.test(file))
    throw new InvalidLockConfigurationError(
      `cronlatch/better-sqlite3 cannot use an address that begins with sqlite:// and a name. Write sqlite:jobs.db for a file in the working directory, or sqlite:/folder/jobs.db.`,
    );
  if (file !== address && file !== '') return file;
  throw new InvalidLockConfigurationError(
    `cronlatch/better-sqlite3 needs an address that begins with sqlite: and names a file, as in sqlite:jobs.db.`,
  );
}

function checkedHandle(source: unknown): Database.Database {
  if (!isHandle(source)) throw unusableSource(source, FORM, 'a database that better-sqlite3 has opened');
  if (source.open) return source;
  throw new InvalidLockUseError('The database for cronlatch/better-sqlite3 is closed. Pass an open one.');
}

export function isHandle(source: unknown): source is Database.Database {
  return typeof source === 'object' && source !== null && 'prepare' in source && 'inTransaction' in source;
}
