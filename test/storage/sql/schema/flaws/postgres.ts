import * as flaws from './flaw';
import type { Flaw, Variants } from './flaw';

const altered = (changes: string): string => `ALTER TABLE shedlock ${changes}`;
const typed = (column: string, type: string): string =>
  altered(`ALTER COLUMN ${column} DROP DEFAULT, ALTER COLUMN ${column} TYPE ${type} USING NULL`);
const keyed = (key: string): readonly string[] => [altered('DROP CONSTRAINT shedlock_pkey'), key];
const COLLATION = `CREATE COLLATION folding (provider = icu, locale = 'und-u-ks-level1', deterministic = false)`;
const RENAMED = altered('RENAME TO locks');

export const POSTGRES_FLAWS: readonly Flaw[] = [
  flaws.NO_TABLE,
  flaws.view(RENAMED),
  flaws.unsuitable('a materialized view', 'is a materialized view, not a table\\.', [
    RENAMED,
    'CREATE MATERIALIZED VIEW shedlock AS SELECT * FROM locks',
  ]),
  flaws.unsuitable('a table that a crash empties', 'is UNLOGGED, so a server crash', altered('SET UNLOGGED')),
  ...flaws.withoutColumns((column) => altered(`DROP COLUMN ${column}`)),
  ...flaws.wrongTypes('lock_until', 'timestamptz', ['integer', 'date', 'text', 'time'], (type) =>
    typed('lock_until', type),
  ),
  ...flaws.wrongTypes('name', 'text', ['char(64)', 'bytea', 'bigint'], (type) => typed('name', type)),
  ...flaws.wrongTypes('fencing_token', 'bigint', ['integer'], (type) => typed('fencing_token', type)),
  [
    'instants of which only one has a time zone',
    'wrong-type',
    /'lock_until' of type timestamptz and 'locked_at' of type timestamp,.*Recreate the/,
    typed('locked_at', 'timestamp'),
  ],
  flaws.namesNotUnique('no key', keyed('SELECT 1')),
  flaws.namesNotUnique('a key that is not unique', keyed('CREATE INDEX ON shedlock (name)')),
  flaws.namesNotUnique('a key of two columns', keyed(altered('ADD PRIMARY KEY (name, locked_by)'))),
  flaws.namesNotUnique(
    'a key on a part of the rows',
    keyed(`CREATE UNIQUE INDEX ON shedlock (name) WHERE locked_by <> ''`),
  ),
  flaws.namesNotUnique('a key on an expression', keyed('CREATE UNIQUE INDEX ON shedlock (lower(name))')),
  flaws.unsuitable(
    'a key that is checked when a transaction ends',
    'has a DEFERRABLE key,',
    keyed(altered('ADD PRIMARY KEY (name) DEFERRABLE')),
  ),
  ...flaws.tooShort(typed('name', 'varchar(63) COLLATE "C"'), typed('locked_by', 'varchar(100)')),
  ...['lock_until', 'locked_at'].flatMap((column) =>
    [0, 1, 2].map((digits) => {
      const type = `timestamptz(${digits})`;
      return flaws.imprecise(column, type, digits, typed(column, type));
    }),
  ),
  flaws.columnNeedsValue(altered('ADD COLUMN region text NOT NULL')),
  [
    'names of type citext',
    'inexact-names',
    flaws.FOLDED,
    ['CREATE EXTENSION citext', typed('name', 'citext')],
  ],
  [
    'names in a collation that folds',
    'inexact-names',
    flaws.FOLDED,
    [COLLATION, typed('name', 'text COLLATE folding')],
  ],
  flaws.namesNotUnique('a key in a collation that folds', [
    COLLATION,
    ...keyed('CREATE UNIQUE INDEX ON shedlock (name COLLATE folding)'),
  ]),
  // With time zones it would look like a table for ShedLock for Java.
  flaws.noToken(altered('ALTER lock_until TYPE timestamp, ALTER locked_at TYPE timestamp')),
];

export const POSTGRES_VARIANTS: Variants = {
  'columns that may be NULL': ['lock_until', 'locked_at', 'locked_by', 'fencing_token'].map((column) =>
    altered(`ALTER COLUMN ${column} DROP NOT NULL`),
  ),
  'three digits of the second': [typed('lock_until', 'timestamptz(3)'), typed('locked_at', 'timestamptz(3)')],
  'digits that differ': [typed('lock_until', 'timestamptz(4)'), typed('locked_at', 'timestamptz(3)')],
  'instants without a time zone': [typed('lock_until', 'timestamp'), typed('locked_at', 'timestamp(3)')],
  'a token of any size': typed('fencing_token', 'numeric'),
  'texts with a limit': [typed('name', 'varchar(64)'), typed('locked_by', 'varchar(255)')],
  'another primary key, and a unique index on the name': [
    ...keyed('CREATE UNIQUE INDEX ON shedlock (name) INCLUDE (locked_by)'),
    altered('ADD COLUMN id bigserial PRIMARY KEY'),
  ],
  'further columns that need no value': altered(
    'ADD COLUMN note text, ADD COLUMN made date NOT NULL DEFAULT current_date, ADD COLUMN number int GENERATED ALWAYS AS IDENTITY, ADD COLUMN size int GENERATED ALWAYS AS (length(name)) STORED',
  ),
  partitions: [
    'CREATE TABLE parted (LIKE shedlock INCLUDING ALL) PARTITION BY HASH (name)',
    'CREATE TABLE part PARTITION OF parted FOR VALUES WITH (MODULUS 1, REMAINDER 0)',
    'DROP TABLE shedlock',
    'ALTER TABLE parted RENAME TO shedlock',
  ],
};
