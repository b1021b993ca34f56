import type { DatabaseName } from '../../../support/databases/fresh';
import type { Flaw } from './flaw';

const RUN = 'ALTER TABLE cronlatch_run';
const NOT_MENDED = { isMended: false } as const;

const missing = (table: string): Flaw => ({
  flaw: `no table ${table}`,
  changes: [`DROP TABLE ${table}`],
  ...{ code: 'missing-table', message: /is missing.*Create it with npx cronlatch init\./ },
  ...NOT_MENDED,
});

/** For a column that one statement can drop. */
const EVERYWHERE: readonly Flaw[] = [
  missing('cronlatch_run'),
  missing('cronlatch_run_event'),
  {
    flaw: 'no column that a later version has added',
    changes: [`${RUN} DROP COLUMN first_started_at`],
    ...{ code: 'missing-column', message: /no column 'first_started_at'\. Run: ALTER TABLE/ },
  },
  {
    flaw: 'no column that a row needs',
    changes: [`${RUN} DROP COLUMN generation`],
    ...{ code: 'missing-column', message: /no column 'generation'\. Recreate the table/, ...NOT_MENDED },
  },
];

const UNIQUE = {
  code: 'runs-not-unique',
  message: /no unique index on \(job_name, scope, period_key\)/,
} as const;

const needsValue = (type: string): Flaw => ({
  flaw: 'a further column that needs a value',
  changes: [`${RUN} ADD COLUMN region ${type} NOT NULL`],
  ...{
    code: 'column-needs-value',
    message: /'region' that requires a value, so cronlatch cannot insert a run/,
    ...NOT_MENDED,
  },
});

const modified = (column: string): readonly string[] => [`${RUN} MODIFY ${column}`];

const MYSQL: readonly Flaw[] = [
  ...EVERYWHERE,
  needsValue('INT'),
  {
    flaw: 'an engine without transactions',
    changes: [`${RUN} ENGINE = MyISAM`],
    ...{
      code: 'unsuitable-table',
      message: /uses the engine MyISAM, which has no transactions/,
      ...NOT_MENDED,
    },
  },
  { flaw: 'no key', changes: [`${RUN} DROP KEY uq_cronlatch_run`], ...UNIQUE },
  {
    flaw: 'a key on the beginning of a name',
    changes: [
      `${RUN} DROP KEY uq_cronlatch_run`,
      `${RUN} ADD UNIQUE KEY other (job_name(9), scope, period_key)`,
      `${RUN} ADD UNIQUE KEY wider (job_name, scope, period_key, attempt)`,
    ],
    ...UNIQUE,
  },
  ...['job_name', 'scope', 'period_key'].map((column): Flaw => ({
    flaw: `a ${column} that folds`,
    changes: modified(`${column} VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL`),
    ...{ code: 'inexact-names', message: new RegExp(`'${column}' that compares different values as equal`) },
  })),
  {
    flaw: 'errors that are not Unicode',
    changes: modified('error TEXT CHARACTER SET latin1 NULL'),
    ...{ code: 'inexact-names', message: /'error' that cannot store every Unicode character/ },
  },
  {
    flaw: 'a claim that is too short',
    changes: modified('claimed_by VARCHAR(100) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL'),
    ...{
      code: 'column-too-short',
      message: /'claimed_by' with room for 100 characters, but its values have up to 255/,
    },
  },
  {
    flaw: 'results that are too short',
    changes: modified('result TEXT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL'),
    ...{ code: 'column-too-short', message: /'result' with room for 65535 characters/ },
  },
  {
    flaw: 'an instant of another type',
    changes: modified('lease_until VARCHAR(40) NULL'),
    ...{ code: 'wrong-type', message: /'lease_until' of type varchar.*must be DATETIME\(6\)/, ...NOT_MENDED },
  },
  {
    flaw: 'an instant of whole seconds',
    changes: modified('next_attempt_at DATETIME NULL'),
    ...{ code: 'imprecise-time', message: /'next_attempt_at' with 0 fractional digits/ },
  },
  ...['TIMESTAMP(6)', 'TIMESTAMP'].map((type): Flaw => ({
    flaw: `an instant ${type}, which has the time zone of its session`,
    changes: modified(`lease_until ${type} NULL`),
    code: 'session-time-zone',
    message:
      /'lease_until' of type timestamp.* time_zone '\+00:00'\. Run: .* MODIFY `lease_until` DATETIME\(6\) NULL;$/,
  })),
  {
    flaw: 'an id without AUTO_INCREMENT',
    changes: modified('id BIGINT UNSIGNED NOT NULL'),
    ...{
      code: 'column-needs-value',
      message: /'id' that does not generate numbers for new rows/,
      ...NOT_MENDED,
    },
  },
];

const POSTGRES: readonly Flaw[] = [
  ...EVERYWHERE,
  needsValue('INT'),
  {
    flaw: 'a table that a crash empties',
    changes: [`${RUN} SET UNLOGGED`],
    ...{ code: 'unsuitable-table', message: /is UNLOGGED/, ...NOT_MENDED },
  },
  { flaw: 'no key', changes: ['DROP INDEX uq_cronlatch_run'], ...UNIQUE },
  {
    flaw: 'a key on a part of the rows',
    changes: [
      'DROP INDEX uq_cronlatch_run',
      `CREATE UNIQUE INDEX part ON cronlatch_run (job_name, scope, period_key) WHERE state <> 'skipped'`,
      'CREATE UNIQUE INDEX wider ON cronlatch_run (job_name, scope, period_key, attempt)',
      'CREATE UNIQUE INDEX folded ON cronlatch_run (lower(job_name), scope, period_key)',
    ],
    ...UNIQUE,
  },
  {
    flaw: 'a scope that folds',
    changes: ['CREATE EXTENSION citext', `${RUN} ALTER COLUMN scope TYPE citext`],
    ...{ code: 'inexact-names', message: /'scope' that compares different values as equal/ },
  },
  {
    flaw: 'a claim that is too short',
    changes: [`${RUN} ALTER COLUMN claimed_by TYPE varchar(100)`],
    ...{ code: 'column-too-short', message: /'claimed_by' with room for 100 characters/ },
  },
  {
    flaw: 'an instant without a time zone',
    changes: [`${RUN} ALTER COLUMN lease_until TYPE timestamp`],
    ...{
      code: 'wrong-type',
      message: /'lease_until' of type timestamp,.*must be timestamptz/,
      ...NOT_MENDED,
    },
  },
  {
    flaw: 'an instant of whole seconds',
    changes: [`${RUN} ALTER COLUMN next_attempt_at TYPE timestamptz(0)`],
    ...{ code: 'imprecise-time', message: /'next_attempt_at' with 0 fractional digits/ },
  },
];

const SQLITE: readonly Flaw[] = [
  ...EVERYWHERE,
  { flaw: 'no key', changes: ['DROP INDEX uq_cronlatch_run'], ...UNIQUE },
  {
    flaw: 'a key that folds',
    changes: [
      'DROP INDEX uq_cronlatch_run',
      'CREATE UNIQUE INDEX folds ON cronlatch_run (job_name COLLATE NOCASE, scope, period_key)',
      `CREATE UNIQUE INDEX part ON cronlatch_run (job_name, scope, period_key) WHERE state <> 'skipped'`,
    ],
    ...UNIQUE,
  },
];

/** Tables of the ledger that differ in one thing from those of the migration. */
export const RUN_FLAWS: Readonly<Record<DatabaseName, readonly Flaw[]>> = {
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: POSTGRES,
  sqlite: SQLITE,
};
