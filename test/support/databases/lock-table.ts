import { DataSource } from 'typeorm';
import { createCronlatchMigration } from 'cronlatch/typeorm';
import { PLACE_NAME } from '#cronlatch/core/lock-name';
import type { TestDatabase } from './fresh';

const migrations = [createCronlatchMigration({ tables: ['lock'] })];

/** The application's DataSource, connected, with the lock table in its database. */
export async function migratedDataSource(
  { options }: Pick<TestDatabase, 'options'>,
  more: object = {},
): Promise<DataSource> {
  const dataSource = new DataSource({ ...options, migrations, ...more });
  await dataSource.initialize();
  await dataSource.runMigrations();
  return dataSource;
}

export interface LockRow {
  readonly name: string;
  readonly lockedBy: string;
  readonly held: boolean;
  readonly token: number;
  /** In the database's time, microseconds since 1970. */
  readonly lockedAtUs: number;
  readonly lockUntilUs: number;
}

/** The expressions of each kind of database; an instant is in microseconds since 1970. */
interface TimeExpressions {
  readonly now: string;
  readonly microseconds: (instant: string) => string;
  /** @param us an integer, or an SQL expression for one */
  readonly earlier: (column: string, us: number | string) => string;
}

const MYSQL: TimeExpressions = {
  now: 'UTC_TIMESTAMP(6)',
  microseconds: (instant) => `TIMESTAMPDIFF(MICROSECOND, '1970-01-01', ${instant})`,
  earlier: (column, us) => `TIMESTAMPADD(MICROSECOND, -(${us}), ${column})`,
};

const EXPRESSIONS: Readonly<Record<string, TimeExpressions>> = {
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: {
    now: 'clock_timestamp()',
    microseconds: (instant) => `(extract(epoch FROM ${instant}) * 1000000)::bigint`,
    earlier: (column, us) => `${column} - (${us}) * interval '1 microsecond'`,
  },
  'better-sqlite3': {
    now: `CAST(unixepoch('subsec') * 1000000 AS INTEGER)`,
    microseconds: (instant) => instant,
    earlier: (column, us) => `${column} - (${us})`,
  },
};

/** The expressions for the database of the DataSource. */
export function timeExpressionsOf({ options }: DataSource): TimeExpressions {
  const expressions = EXPRESSIONS[options.type];
  if (expressions === undefined) throw new Error(`The tests cannot read a lock table on ${options.type}.`);
  return expressions;
}

/** The rows of locks, without the one that names their place. */
export async function lockRows(dataSource: DataSource, table = 'shedlock'): Promise<LockRow[]> {
  const { now, microseconds } = timeExpressionsOf(dataSource);
  const rows = await dataSource.query<Record<string, unknown>[]>(
    `SELECT name, locked_by, fencing_token, CASE WHEN lock_until > ${now} THEN 1 ELSE 0 END AS held,
       ${microseconds('locked_at')} AS locked_at_us, ${microseconds('lock_until')} AS until_us
     FROM ${table} WHERE name <> '${PLACE_NAME}' ORDER BY name`,
  );
  return rows.map((row) => ({
    name: String(row['name']),
    lockedBy: String(row['locked_by']),
    held: Number(row['held']) === 1,
    token: Number(row['fencing_token']),
    lockedAtUs: Number(row['locked_at_us']),
    lockUntilUs: Number(row['until_us']),
  }));
}

/** For the lock table, moving everything back in time equals the passing of time. */
export async function shiftBack(
  dataSource: DataSource,
  milliseconds: number,
  table = 'shedlock',
): Promise<void> {
  const { earlier } = timeExpressionsOf(dataSource);
  const shifted = ['lock_until', 'locked_at'].map(
    (column) => `${column} = ${earlier(column, Math.round(milliseconds * 1000))}`,
  );
  await dataSource.query(`UPDATE ${table} SET ${shifted.join(', ')}`);
}

/** Writes a row as another program would. Its names need no quoting in the statement. */
export async function insertLockRow(
  dataSource: DataSource,
  { name, lockedBy, endsInMs }: { name: string; lockedBy: string; endsInMs: number },
): Promise<void> {
  const { now, earlier } = timeExpressionsOf(dataSource);
  const lockUntil = earlier(now, Math.round(-endsInMs * 1000));
  await dataSource.query(
    `INSERT INTO shedlock (name, locked_by, locked_at, lock_until) VALUES ('${name}', '${lockedBy}', ${now}, ${lockUntil})`,
  );
}

/** The database's clock, in microseconds since 1970. */
export async function databaseNowUs(dataSource: DataSource): Promise<number> {
  const { now, microseconds } = timeExpressionsOf(dataSource);
  const [row] = await dataSource.query<{ now_us: unknown }[]>(`SELECT ${microseconds(now)} AS now_us`);
  return Number(row?.now_us);
}

/** Resolves when the database's clock has moved forward by at least a millisecond. */
export async function nextMillisecond(dataSource: DataSource): Promise<void> {
  const passed = async (): Promise<number> => Math.floor((await databaseNowUs(dataSource)) / 1000);
  const before = await passed();
  while ((await passed()) <= before);
}
