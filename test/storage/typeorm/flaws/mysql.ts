import {
  columnNeedsValue,
  namesNotUnique,
  NEEDED_COLUMNS,
  NO_TABLE,
  NO_TOKEN,
  view,
  withoutColumn,
} from './everywhere';
import type { Flaw, Variant } from './flaw';

const modified = (column: string): readonly string[] => [`ALTER TABLE shedlock MODIFY ${column}`];

/** For MySQL and MariaDB. */
export const MYSQL_FLAWS: readonly Flaw[] = [
  NO_TABLE,
  view('RENAME TABLE shedlock TO locks'),
  ...['MyISAM', 'MEMORY'].map((engine): Flaw => ({
    flaw: `the engine ${engine}`,
    changes: [`ALTER TABLE shedlock ENGINE = ${engine}`],
    ...{
      code: 'unsuitable-table',
      message: new RegExp(
        `uses the engine ${engine},.*Create the table with createTables\\(\\) or the migration`,
      ),
      isMended: false,
    },
  })),
  ...NEEDED_COLUMNS.map((column) =>
    withoutColumn(column, [
      ...(column === 'name'
        ? ['ALTER TABLE shedlock ADD COLUMN id INT DEFAULT 0, DROP PRIMARY KEY, ADD PRIMARY KEY (id)']
        : []),
      `ALTER TABLE shedlock DROP COLUMN ${column}`,
    ]),
  ),
  ...['INT', 'DECIMAL(20, 6)', 'DATE', 'VARCHAR(30)'].map((type): Flaw => ({
    flaw: `lock_until of type ${type}`,
    changes: modified(`lock_until ${type} NOT NULL`),
    ...{ code: 'wrong-type', message: /'lock_until' of type \w+,.*must be DATETIME\(6\)/, isMended: false },
  })),
  ...['VARBINARY(64)', 'CHAR(64)', 'BIGINT'].map((type): Flaw => ({
    flaw: `name of type ${type}`,
    changes: modified(`name ${type} NOT NULL`),
    ...{ code: 'wrong-type', message: /'name' of type \w+,.*must be VARCHAR\(64\)/, isMended: false },
  })),
  {
    flaw: 'fencing_token of 32 bits',
    changes: modified('fencing_token INT UNSIGNED NOT NULL DEFAULT 0'),
    ...{ code: 'wrong-type', message: /'fencing_token' of type int,.*must be BIGINT/, isMended: false },
  },
  namesNotUnique('no key', ['ALTER TABLE shedlock DROP PRIMARY KEY']),
  namesNotUnique('a key that is not unique', ['ALTER TABLE shedlock DROP PRIMARY KEY, ADD INDEX (name)']),
  namesNotUnique('a key of two columns', [
    'ALTER TABLE shedlock DROP PRIMARY KEY, ADD PRIMARY KEY (name, locked_by)',
  ]),
  namesNotUnique('a key on the first ten characters of the name', [
    'ALTER TABLE shedlock DROP PRIMARY KEY, ADD UNIQUE KEY (name(10))',
  ]),
  {
    flaw: 'a name that is too short',
    changes: modified('name VARCHAR(63) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL'),
    ...{
      code: 'column-too-short',
      message: /'name' with room for 63 characters, but nameLength is 64\. Lower nameLength, or/,
    },
  },
  {
    flaw: 'locked_by that is too short',
    changes: modified('locked_by VARCHAR(100) NOT NULL'),
    ...{
      code: 'column-too-short',
      message: /'locked_by' with room for 100 characters, but an owner has up to 240/,
    },
  },
  ...['lock_until', 'locked_at'].flatMap((column): Flaw[] => [
    ...[0, 1, 2].map((digits): Flaw => ({
      flaw: `${column} DATETIME(${digits})`,
      changes: modified(`${column} DATETIME(${digits}) NOT NULL`),
      ...{ code: 'imprecise-time', message: new RegExp(`'${column}' with ${digits} fractional digits`) },
    })),
    {
      flaw: `${column} TIMESTAMP(0)`,
      changes: modified(`${column} TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP`),
      ...{ code: 'imprecise-time', message: new RegExp(`'${column}' with 0 fractional digits`) },
    },
  ]),
  ...['DATETIME(6)', 'TIMESTAMP(6)'].map((type): Flaw => ({
    flaw: `locked_at ${type} that updates itself`,
    changes: modified(
      `locked_at ${type} NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)`,
    ),
    ...{ code: 'unstable-time', message: /'locked_at' that changes with every update/ },
  })),
  columnNeedsValue(['ALTER TABLE shedlock ADD COLUMN region VARCHAR(10) NOT NULL']),
  ...['utf8mb4_general_ci', 'utf8mb4_unicode_ci', 'utf8mb4_turkish_ci', 'latin1_swedish_ci'].map(
    (collation): Flaw => ({
      flaw: `names in ${collation}`,
      changes: modified(
        `name VARCHAR(64) CHARACTER SET ${collation.split('_')[0]} COLLATE ${collation} NOT NULL`,
      ),
      ...{
        code: 'inexact-names',
        severity: 'warning',
        message: /'name' that compares different values as equal.* not grouped/,
      },
    }),
  ),
  {
    flaw: 'names that are too wide, and folded',
    changes: modified('name VARCHAR(200) CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci NOT NULL'),
    ...{ code: 'inexact-names', severity: 'warning', message: /MODIFY `name` VARCHAR\(200\)/ },
  },
  NO_TOKEN,
];

export const MYSQL_VARIANTS: readonly Variant[] = [
  {
    variant: 'columns that may be NULL',
    changes: modified(
      'lock_until DATETIME(6) NULL, MODIFY locked_at DATETIME(6) NULL, MODIFY locked_by VARCHAR(255) NULL, MODIFY fencing_token BIGINT UNSIGNED NULL DEFAULT 0',
    ),
  },
  {
    variant: 'three digits of the second',
    changes: modified('lock_until DATETIME(3) NOT NULL, MODIFY locked_at DATETIME(3) NOT NULL'),
  },
  {
    variant: 'digits that differ',
    changes: modified('lock_until DATETIME(4) NOT NULL, MODIFY locked_at DATETIME(3) NOT NULL'),
  },
  {
    variant: 'TIMESTAMP columns',
    changes: modified(
      'lock_until TIMESTAMP(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6), MODIFY locked_at TIMESTAMP(3) NOT NULL DEFAULT CURRENT_TIMESTAMP(3)',
    ),
  },
  { variant: 'a token with a sign', changes: modified('fencing_token BIGINT NOT NULL DEFAULT 0') },
  {
    variant: 'a wider name',
    changes: modified('name VARCHAR(255) CHARACTER SET utf8mb4 COLLATE utf8mb4_bin NOT NULL'),
  },
  ...['latin1_bin', 'utf8mb3_bin'].map((collation) => ({
    // The server refuses a name with characters that they cannot hold.
    variant: `names in ${collation}`,
    changes: modified(
      `name VARCHAR(64) CHARACTER SET ${collation.split('_')[0]} COLLATE ${collation} NOT NULL`,
    ),
  })),
  {
    variant: 'another primary key, and a unique index on the name',
    changes: [
      'ALTER TABLE shedlock DROP PRIMARY KEY, ADD COLUMN id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, ADD UNIQUE KEY (name)',
    ],
  },
  {
    variant: 'further columns that need no value',
    changes: [
      'ALTER TABLE shedlock ADD COLUMN note TEXT NULL, ADD COLUMN made DATETIME NOT NULL DEFAULT CURRENT_TIMESTAMP, ADD COLUMN size INT AS (CHAR_LENGTH(name)) STORED',
    ],
  },
  {
    variant: 'columns in capital letters',
    changes: [
      'ALTER TABLE shedlock RENAME COLUMN name TO NAME, RENAME COLUMN lock_until TO LOCK_UNTIL, RENAME COLUMN fencing_token TO FENCING_TOKEN',
    ],
  },
];
