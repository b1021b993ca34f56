import type { DataSource } from 'typeorm';

/** The SQL expressions of each kind of database. */
const EXPRESSIONS = {
  mysql: {
    minutesAgo: (minutes: string) => `TIMESTAMPADD(MINUTE, -(${minutes}), UTC_TIMESTAMP(6))`,
    text: (number: string) => `CAST(${number} AS CHAR)`,
    statistics: 'ANALYZE TABLE cronlatch_run',
  },
  postgres: {
    minutesAgo: (minutes: string) => `statement_timestamp() - (${minutes}) * interval '1 minute'`,
    text: (number: string) => `CAST(${number} AS TEXT)`,
    statistics: 'ANALYZE cronlatch_run',
  },
  sqlite: {
    minutesAgo: (minutes: string) =>
      `CAST(unixepoch('subsec') * 1000000 AS INTEGER) - (${minutes}) * 60000000`,
    text: (number: string) => `CAST(${number} AS TEXT)`,
    statistics: 'ANALYZE',
  },
};

/** By the type of a DataSource. */
const DIALECTS: Readonly<Record<string, keyof typeof EXPRESSIONS>> = {
  ...{ mysql: 'mysql', mariadb: 'mysql', postgres: 'postgres', 'better-sqlite3': 'sqlite' },
};

const AT_ONCE = 100_000;
/** Half of the runs are ticks of one job; the others are divided among this many scopes of another one. */
const SCOPES = 500;
const DIGITS = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9].map((digit) => `SELECT ${digit} AS d`).join(' UNION ALL ');

/** Inserts completed runs, the oldest first: one per minute, and the newest ended yesterday. */
export async function fillRuns(dataSource: DataSource, rows: number): Promise<void> {
  const expressions = EXPRESSIONS[DIALECTS[dataSource.options.type] ?? 'mysql'];
  for (let from = 0; from < rows; from += AT_ONCE) await insert(from, Math.min(rows, from + AT_ONCE));
  await dataSource.query(expressions.statistics);

  async function insert(from: number, to: number): Promise<void> {
    const minutes = `${rows} + 1440 - n`;
    const begin = expressions.minutesAgo(minutes);
    const end = expressions.minutesAgo(`${minutes} - 1`);
    const ifTick = (tick: string, run: string): string => `CASE WHEN n % 2 = 0 THEN ${tick} ELSE ${run} END`;
    await dataSource.query(
      `INSERT INTO cronlatch_run
         (job_name, scope, period_key, period_start, period_end, state, attempt, created_at, updated_at)
       SELECT ${ifTick(`'tick'`, `'job'`)}, ${ifTick(`''`, expressions.text(`n % ${SCOPES}`))}, ${expressions.text('n')},
         ${begin}, ${ifTick('NULL', end)}, 'completed', 1, ${begin}, ${end}
       FROM (${numbers(from, to)}) numbers`,
    );
  }
}

/** Inserts released locks. Their names are numbers. */
export async function fillLocks(dataSource: DataSource, rows: number): Promise<void> {
  const { minutesAgo, text } = EXPRESSIONS[DIALECTS[dataSource.options.type] ?? 'mysql'];
  for (let from = 0; from < rows; from += AT_ONCE) {
    const [until, at] = [minutesAgo('1'), minutesAgo('2')];
    await dataSource.query(
      `INSERT INTO shedlock (name, lock_until, locked_at, locked_by, fencing_token)
       SELECT ${text('n')}, ${until}, ${at}, 'bench', 1 FROM (${numbers(from, Math.min(rows, from + AT_ONCE))}) numbers`,
    );
  }
}

function numbers(from: number, to: number): string {
  const places = [0, 1, 2, 3, 4];
  const value = places.map((place) => `t${place}.d * ${10 ** place}`).join(' + ');
  const tables = places.map((place) => `(${DIGITS}) t${place}`).join(' CROSS JOIN ');
  return `SELECT ${from} + i AS n FROM (SELECT ${value} AS i FROM ${tables}) every
    WHERE ${from} + i < ${to} ORDER BY n LIMIT ${AT_ONCE}`;
}
