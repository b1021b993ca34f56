import type { DatabaseName } from '../../../../support/databases/fresh';
import type { Flaw } from './flaw';

const altered = (changes: string): string => `ALTER TABLE cronlatch_run ${changes}`;
const modified = (column: string): string => altered(`MODIFY ${column}`);

/** With a column that one statement can drop. */
const EVERYWHERE: readonly Flaw[] = [
  ...['cronlatch_run', 'cronlatch_run_event'].map((table): Flaw => {
    const message = /is missing.*Create it with npx cronlatch init\./;
    return [`no table ${table}`, 'missing-table', message, `DROP TABLE ${table}`];
  }),
  [
    'no column that a later version has added',
    'missing-column',
    /no column 'first_started_at'\. Add it with npx cronlatch init\. Run: ALTER TABLE/,
    altered('DROP COLUMN first_started_at'),
  ],
  [
    'no column that a row needs',
    'missing-column',
    /no column 'generation'\. Recreate the table/,
    altered('DROP COLUMN generation'),
    'by hand',
  ],
];

const NEEDS_VALUE: Flaw = [
  'a further column that needs a value',
  'column-needs-value',
  /'region' that requires a value, so cronlatch cannot insert a run/,
  altered('ADD COLUMN region INT NOT NULL'),
];

function notUnique(flaw: string, ...changes: readonly string[]): Flaw {
  return [flaw, 'runs-not-unique', /no unique index on \(job_name, scope, period_key\)/, changes];
}

const BINARY = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NULL';

const MYSQL: readonly Flaw[] = [
  ...EVERYWHERE,
  NEEDS_VALUE,
  [
    'an engine without transactions',
    'unsuitable-table',
    /uses the engine MyISAM, which has no transactions/,
    altered('ENGINE = MyISAM'),
  ],
  notUnique('no key', altered('DROP KEY uq_cronlatch_run')),
  notUnique(
    'a key on the beginning of a name',
    altered('DROP KEY uq_cronlatch_run'),
    altered('ADD UNIQUE KEY other (job_name(9), scope, period_key)'),
    altered('ADD UNIQUE KEY wider (job_name, scope, period_key, attempt)'),
  ),
  ...['job_name', 'scope', 'period_key'].map((column): Flaw => {
    const folded = `${column} VARCHAR(64) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL`;
    const message = new RegExp(`'${column}' that compares different values as equal`);
    return [`a ${column} that folds`, 'inexact-names', message, modified(folded)];
  }),
  [
    'errors that are not Unicode',
    'inexact-names',
    /'error' that cannot store every Unicode character/,
    modified('error TEXT CHARACTER SET latin1 NULL'),
  ],
  [
    'a claim that is too short',
    'column-too-short',
    /'claimed_by' with room for 100 characters, but its values have up to 255/,
    modified(`claimed_by VARCHAR(100) ${BINARY}`),
  ],
  [
    'results that are too short',
    'column-too-short',
    /'result' with room for 65535 characters/,
    modified(`result TEXT ${BINARY}`),
  ],
  [
    'an instant of another type',
    'wrong-type',
    /'lease_until' of type varchar.*must be DATETIME\(6\)/,
    modified('lease_until VARCHAR(40) NULL'),
  ],
  [
    'an instant of whole seconds',
    'imprecise-time',
    /'next_attempt_at' with 0 fractional digits/,
    modified('next_attempt_at DATETIME NULL'),
  ],
  ...['TIMESTAMP(6)', 'TIMESTAMP'].map((type): Flaw => [
    `an instant ${type}, which has the time zone of its session`,
    'session-time-zone',
    /'lease_until' of type timestamp.* time_zone '\+00:00'\. Run: .* MODIFY `lease_until` DATETIME\(6\) NULL;$/,
    modified(`lease_until ${type} NULL`),
  ]),
  [
    'an id without AUTO_INCREMENT',
    'column-needs-value',
    /'id' that does not generate numbers for new rows/,
    modified('id BIGINT UNSIGNED NOT NULL'),
  ],
];

const POSTGRES: readonly Flaw[] = [
  ...EVERYWHERE,
  NEEDS_VALUE,
  ['a table that a crash empties', 'unsuitable-table', /is UNLOGGED/, altered('SET UNLOGGED')],
  notUnique('no key', 'DROP INDEX uq_cronlatch_run'),
  notUnique(
    'a key on a part of the rows',
    'DROP INDEX uq_cronlatch_run',
    `CREATE UNIQUE INDEX part ON cronlatch_run (job_name, scope, period_key) WHERE state <> 'skipped'`,
    'CREATE UNIQUE INDEX wider ON cronlatch_run (job_name, scope, period_key, attempt)',
    'CREATE UNIQUE INDEX folded ON cronlatch_run (lower(job_name), scope, period_key)',
  ),
  [
    'a scope that folds',
    'inexact-names',
    /'scope' that compares different values as equal/,
    ['CREATE EXTENSION citext', altered('ALTER COLUMN scope TYPE citext')],
  ],
  [
    'a claim that is too short',
    'column-too-short',
    /'claimed_by' with room for 100 characters/,
    altered('ALTER COLUMN claimed_by TYPE varchar(100)'),
  ],
  [
    'an instant without a time zone',
    'wrong-type',
    /'lease_until' of type timestamp,.*must be timestamptz/,
    altered('ALTER COLUMN lease_until TYPE timestamp'),
  ],
  [
    'an instant of whole seconds',
    'imprecise-time',
    /'next_attempt_at' with 0 fractional digits/,
    altered('ALTER COLUMN next_attempt_at TYPE timestamptz(0)'),
  ],
];

const SQLITE: readonly Flaw[] = [
  ...EVERYWHERE,
  notUnique('no key', 'DROP INDEX uq_cronlatch_run'),
  notUnique(
    'a key that folds',
    'DROP INDEX uq_cronlatch_run',
    'CREATE UNIQUE INDEX folds ON cronlatch_run (job_name COLLATE NOCASE, scope, period_key)',
    `CREATE UNIQUE INDEX part ON cronlatch_run (job_name, scope, period_key) WHERE state <> 'skipped'`,
  ),
];

/** Tables of the ledger that differ in one thing from those of the migration. */
export const RUN_FLAWS: Readonly<Record<DatabaseName, readonly Flaw[]>> = {
  mysql: MYSQL,
  mariadb: MYSQL,
  postgres: POSTGRES,
  sqlite: SQLITE,
};
