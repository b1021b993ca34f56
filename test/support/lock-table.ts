import { DataSource } from 'typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import type { TestDatabase } from './databases';

const migrations = [createCronlatchMigration({ tables: ['lock'] })];

/** The application's DataSource, connected, with the lock table in its database. */
export async function migratedDataSource({ options }: TestDatabase, more: object = {}): Promise<DataSource> {
  const dataSource = new DataSource({ ...options, ...more, migrations });
  await dataSource.initialize();
  await dataSource.runMigrations();
  return dataSource;
}

export interface LockRow {
  readonly name: string;
  readonly lockedBy: string;
  readonly held: boolean;
  readonly token: number;
  /** Lock table's time, milliseconds since 1970. */
  readonly lockUntilMs: number;
}

const COLUMNS = {
  mysql: `name, locked_by, fencing_token, lock_until > UTC_TIMESTAMP(6) AS held, TIMESTAMPDIFF(MICROSECOND, '1970-01-01', lock_until) AS until_us`,
  sqlite: `name, locked_by, fencing_token, lock_until > unixepoch('subsec') * 1000000 AS held, lock_until AS until_us`,
};

export async function lockRows(dataSource: DataSource): Promise<LockRow[]> {
  const columns = dataSource.options.type === 'mysql' ? COLUMNS.mysql : COLUMNS.sqlite;
  const rows = await dataSource.query<Record<string, unknown>[]>(
    `SELECT ${columns} FROM shedlock ORDER BY name`,
  );
  return rows.map((row) => ({
    name: String(row['name']),
    lockedBy: String(row['locked_by']),
    held: Number(row['held']) === 1,
    token: Number(row['fencing_token']),
    lockUntilMs: Number(row['until_us']) / 1000,
  }));
}

const SHIFT = {
  mysql: `UPDATE shedlock SET lock_until = TIMESTAMPADD(MICROSECOND, -?, lock_until), locked_at = TIMESTAMPADD(MICROSECOND, -?, locked_at)`,
  sqlite: `UPDATE shedlock SET lock_until = lock_until - ?, locked_at = locked_at - ?`,
};

/** To the lock table, everything moved back in time is the same as time that has passed. */
export async function shiftBack(dataSource: DataSource, milliseconds: number): Promise<void> {
  const statement = dataSource.options.type === 'mysql' ? SHIFT.mysql : SHIFT.sqlite;
  await dataSource.query(statement, [milliseconds * 1000, milliseconds * 1000]);
}

const NOW_MS = {
  mysql: `SELECT UNIX_TIMESTAMP(UTC_TIMESTAMP(3)) * 1000 AS ms`,
  sqlite: `SELECT unixepoch('subsec') * 1000 AS ms`,
};

/** Resolves when the database's clock has moved on by a millisecond at least. */
export async function nextMillisecond(dataSource: DataSource): Promise<void> {
  const statement = dataSource.options.type === 'mysql' ? NOW_MS.mysql : NOW_MS.sqlite;
  const now = async (): Promise<number> =>
    Math.floor(Number((await dataSource.query<{ ms: number }[]>(statement))[0]?.ms));
  const before = await now();
  while ((await now()) <= before);
}
