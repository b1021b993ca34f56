import * as flaws from './flaw';
import type { Flaw, Variants } from './flaw';

const altered = (changes: string): string => `ALTER TABLE shedlock ${changes}`;
const modified = (column: string): string => altered(`MODIFY ${column}`);
const nameIn = (collation: string, length = 64): string =>
  modified(`name VARCHAR(${length}) CHARACTER SET ${collation.split('_')[0]} COLLATE ${collation} NOT NULL`);
const UPDATED = 'NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)';

/** For MySQL and MariaDB. */
export const MYSQL_FLAWS: readonly Flaw[] = [
  flaws.NO_TABLE,
  flaws.view('RENAME TABLE shedlock TO locks'),
  ...['MyISAM', 'MEMORY'].map((engine) =>
    flaws.unsuitable(`the engine ${engine}`, `uses the engine ${engine},`, altered(`ENGINE = ${engine}`)),
  ),
  ...flaws.withoutColumns((column) => [
    ...(column === 'name'
      ? [altered('ADD COLUMN id INT DEFAULT 0, DROP PRIMARY KEY, ADD PRIMARY KEY (id)')]
      : []),
    altered(`DROP COLUMN ${column}`),
  ]),
  ...flaws.wrongTypes(
    'lock_until',
    'DATETIME\\(6\\)',
    ['INT', 'DECIMAL(20, 6)', 'DATE', 'VARCHAR(30)'],
    (type) => modified(`lock_until ${type} NOT NULL`),
  ),
  ...flaws.wrongTypes('name', 'VARCHAR\\(64\\)', ['VARBINARY(64)', 'CHAR(64)', 'BIGINT'], (type) =>
    modified(`name ${type} NOT NULL`),
  ),
  ...flaws.wrongTypes('fencing_token', 'BIGINT', ['INT UNSIGNED'], (type) =>
    modified(`fencing_token ${type} NOT NULL DEFAULT 0`),
  ),
  flaws.namesNotUnique('no key', altered('DROP PRIMARY KEY')),
  flaws.namesNotUnique('a key that is not unique', altered('DROP PRIMARY KEY, ADD INDEX (name)')),
  flaws.namesNotUnique(
    'a key of two columns',
    altered('DROP PRIMARY KEY, ADD PRIMARY KEY (name, locked_by)'),
  ),
  flaws.namesNotUnique(
    'a key on the first ten characters of the name',
    altered('DROP PRIMARY KEY, ADD UNIQUE KEY (name(10))'),
  ),
  ...flaws.tooShort(nameIn('utf8mb4_bin', 63), modified('locked_by VARCHAR(100) NOT NULL')),
  ...['lock_until', 'locked_at'].flatMap((column) => [
    ...[0, 1, 2].map((digits) => {
      const type = `DATETIME(${digits})`;
      return flaws.imprecise(column, type, digits, modified(`${column} ${type} NOT NULL`));
    }),
    flaws.imprecise(
      column,
      'TIMESTAMP(0)',
      0,
      modified(`${column} TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP`),
    ),
  ]),
  ...['DATETIME(6)', 'TIMESTAMP(6)'].map((type): Flaw => {
    const message = /'locked_at' that changes with every update/;
    return [
      `locked_at ${type} that updates itself`,
      'unstable-time',
      message,
      modified(`locked_at ${type} ${UPDATED}`),
    ];
  }),
  flaws.columnNeedsValue(altered('ADD COLUMN region VARCHAR(10) NOT NULL')),
  ...['utf8mb4_general_ci', 'utf8mb4_unicode_ci', 'utf8mb4_turkish_ci', 'latin1_swedish_ci'].map(
    (collation): Flaw => {
      const message = /'name' that compares different values as equal.* not grouped/;
      return [`names in ${collation}`, 'inexact-names', message, nameIn(collation)];
    },
  ),
  [
    'names that are too wide, and folded',
    'inexact-names',
    /MODIFY `name` VARCHAR\(200\)/,
    nameIn('utf8mb4_general_ci', 200),
  ],
  flaws.noToken(),
];

export const MYSQL_VARIANTS: Variants = {
  'columns that may be NULL': modified(
    'lock_until DATETIME(6) NULL, MODIFY locked_at DATETIME(6) NULL, MODIFY locked_by VARCHAR(255) NULL, MODIFY fencing_token BIGINT UNSIGNED NULL DEFAULT 0',
  ),
  'three digits of the second': modified(
    'lock_until DATETIME(3) NOT NULL, MODIFY locked_at DATETIME(3) NOT NULL',
  ),
  'digits that differ': modified('lock_until DATETIME(4) NOT NULL, MODIFY locked_at DATETIME(3) NOT NULL'),
  'TIMESTAMP columns': modified(
    'lock_until TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), MODIFY locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)',
  ),
  'a token with a sign': modified('fencing_token BIGINT NOT NULL DEFAULT 0'),
  'a wider name': nameIn('utf8mb4_bin', 255),
  // The server refuses a name with characters that they cannot hold.
  'names in latin1_bin': nameIn('latin1_bin'),
  'names in utf8mb3_bin': nameIn('utf8mb3_bin'),
  'another primary key, and a unique index on the name': altered(
    'DROP PRIMARY KEY, ADD COLUMN id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, ADD UNIQUE KEY (name)',
  ),
  'further columns that need no value': altered(
    'ADD COLUMN note TEXT NULL, ADD COLUMN made DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, ADD COLUMN size INT AS (CHAR_LENGTH(name)) STORED',
  ),
  'columns in capital letters': altered(
    'RENAME COLUMN name TO NAME, RENAME COLUMN lock_until TO LOCK_UNTIL, RENAME COLUMN fencing_token TO FENCING_TOKEN',
  ),
};
