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

const typed = (column: string, type: string): readonly string[] => [
  `ALTER TABLE shedlock ALTER COLUMN ${column} DROP DEFAULT, ALTER COLUMN ${column} TYPE ${type} USING NULL`,
];
const keyed = (key: string): readonly string[] => ['ALTER TABLE shedlock DROP CONSTRAINT shedlock_pkey', key];

export const POSTGRES_FLAWS: readonly Flaw[] = [
  NO_TABLE,
  view('ALTER TABLE shedlock RENAME TO locks'),
  {
    flaw: 'a materialized view',
    changes: [
      'ALTER TABLE shedlock RENAME TO locks',
      'CREATE MATERIALIZED VIEW shedlock AS SELECT * FROM locks',
    ],
    ...{
      code: 'unsuitable-table',
      message: /is a materialized view, not a table\. Create the/,
      isMended: false,
    },
  },
  {
    flaw: 'a table that a crash empties',
    changes: ['ALTER TABLE shedlock SET UNLOGGED'],
    ...{
      code: 'unsuitable-table',
      message: /is UNLOGGED, so a server crash.*Create the table with createTables\(\) or the migration/,
      isMended: false,
    },
  },
  ...NEEDED_COLUMNS.map((column) => withoutColumn(column, [`ALTER TABLE shedlock DROP COLUMN ${column}`])),
  ...['integer', 'date', 'text', 'time'].map((type): Flaw => ({
    flaw: `lock_until of type ${type}`,
    changes: typed('lock_until', type),
    ...{ code: 'wrong-type', message: /'lock_until' of type \w+,.*must be timestamptz/, isMended: false },
  })),
  ...['char(64)', 'bytea', 'bigint'].map((type): Flaw => ({
    flaw: `name of type ${type}`,
    changes: typed('name', type),
    ...{ code: 'wrong-type', message: /'name' of type \w+,.*must be text/, isMended: false },
  })),
  {
    flaw: 'fencing_token of 32 bits',
    changes: typed('fencing_token', 'integer'),
    ...{ code: 'wrong-type', message: /'fencing_token' of type int4,.*must be bigint/, isMended: false },
  },
  {
    flaw: 'instants of which only one has a time zone',
    changes: typed('locked_at', 'timestamp'),
    ...{
      code: 'wrong-type',
      message: /'lock_until' of type timestamptz and 'locked_at' of type timestamp,.*Recreate the/,
      isMended: false,
    },
  },
  namesNotUnique('no key', keyed('SELECT 1')),
  namesNotUnique('a key that is not unique', keyed('CREATE INDEX ON shedlock (name)')),
  namesNotUnique('a key of two columns', keyed('ALTER TABLE shedlock ADD PRIMARY KEY (name, locked_by)')),
  namesNotUnique(
    'a key on a part of the rows',
    keyed(`CREATE UNIQUE INDEX ON shedlock (name) WHERE locked_by <> ''`),
  ),
  namesNotUnique('a key on an expression', keyed('CREATE UNIQUE INDEX ON shedlock (lower(name))')),
  {
    flaw: 'a key that is checked when a transaction ends',
    changes: keyed('ALTER TABLE shedlock ADD PRIMARY KEY (name) DEFERRABLE'),
    ...{
      code: 'unsuitable-table',
      message: /has a DEFERRABLE key,.*Create the table with createTables\(\) or the migration/,
      isMended: false,
    },
  },
  {
    flaw: 'a name that is too short',
    changes: typed('name', 'varchar(63) COLLATE "C"'),
    ...{
      code: 'column-too-short',
      message: /'name' with room for 63 characters, but nameLength is 64\. Lower nameLength, or/,
    },
  },
  {
    flaw: 'locked_by that is too short',
    changes: typed('locked_by', 'varchar(100)'),
    ...{
      code: 'column-too-short',
      message: /'locked_by' with room for 100 characters, but an owner has up to 240/,
    },
  },
  ...['lock_until', 'locked_at'].flatMap((column) =>
    [0, 1, 2].map((digits): Flaw => ({
      flaw: `${column} timestamptz(${digits})`,
      changes: typed(column, `timestamptz(${digits})`),
      ...{ code: 'imprecise-time', message: new RegExp(`'${column}' with ${digits} fractional digits`) },
    })),
  ),
  columnNeedsValue(['ALTER TABLE shedlock ADD COLUMN region text NOT NULL']),
  {
    flaw: 'names of type citext',
    changes: ['CREATE EXTENSION citext', ...typed('name', 'citext')],
    ...{
      code: 'inexact-names',
      severity: 'warning',
      message: /'name' that compares different values as equal/,
    },
  },
  {
    flaw: 'names in a collation that folds',
    changes: [
      `CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
      ...typed('name', 'text COLLATE folding'),
    ],
    ...{
      code: 'inexact-names',
      severity: 'warning',
      message: /'name' that compares different values as equal/,
    },
  },
  namesNotUnique('a key in a collation that folds', [
    `CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`,
    ...keyed('CREATE UNIQUE INDEX ON shedlock (name COLLATE folding)'),
  ]),
  {
    ...NO_TOKEN,
    // With time zones it would look like a table for ShedLock for Java.
    changes: [
      ...NO_TOKEN.changes,
      'ALTER TABLE shedlock ALTER lock_until TYPE timestamp, ALTER locked_at TYPE timestamp',
    ],
  },
];

export const POSTGRES_VARIANTS: readonly Variant[] = [
  {
    variant: 'columns that may be NULL',
    changes: ['lock_until', 'locked_at', 'locked_by', 'fencing_token'].map(
      (column) => `ALTER TABLE shedlock ALTER COLUMN ${column} DROP NOT NULL`,
    ),
  },
  {
    variant: 'three digits of the second',
    changes: [...typed('lock_until', 'timestamptz(3)'), ...typed('locked_at', 'timestamptz(3)')],
  },
  {
    variant: 'digits that differ',
    changes: [...typed('lock_until', 'timestamptz(4)'), ...typed('locked_at', 'timestamptz(3)')],
  },
  {
    variant: 'instants without a time zone',
    changes: [...typed('lock_until', 'timestamp'), ...typed('locked_at', 'timestamp(3)')],
  },
  { variant: 'a token of any size', changes: typed('fencing_token', 'numeric') },
  {
    variant: 'texts with a limit',
    changes: [...typed('name', 'varchar(64)'), ...typed('locked_by', 'varchar(255)')],
  },
  {
    variant: 'another primary key, and a unique index on the name',
    changes: [
      ...keyed('CREATE UNIQUE INDEX ON shedlock (name) INCLUDE (locked_by)'),
      'ALTER TABLE shedlock ADD COLUMN id bigserial PRIMARY KEY',
    ],
  },
  {
    variant: 'further columns that need no value',
    changes: [
      'ALTER TABLE shedlock ADD COLUMN note text, ADD COLUMN made date NOT NULL DEFAULT current_date, ADD COLUMN number int GENERATED ALWAYS AS IDENTITY, ADD COLUMN size int GENERATED ALWAYS AS (length(name)) STORED',
    ],
  },
  {
    variant: 'partitions',
    changes: [
      'CREATE TABLE parted (LIKE shedlock INCLUDING ALL) PARTITION BY HASH (name)',
      'CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
      'DROP TABLE shedlock',
      'ALTER TABLE parted RENAME TO shedlock',
    ],
  },
];
