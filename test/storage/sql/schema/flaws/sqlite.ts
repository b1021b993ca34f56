import * as flaws from './flaw';
import type { Flaw, Variants } from './flaw';

const COLUMNS = {
  name: 'name TEXT NOT NULL PRIMARY KEY',
  lock_until: 'lock_until INTEGER NOT NULL',
  locked_at: 'locked_at INTEGER NOT NULL',
  locked_by: 'locked_by TEXT NOT NULL',
  fencing_token: 'fencing_token INTEGER NOT NULL DEFAULT 0',
};

/** SQLite cannot change a column, so the table is recreated with some different columns. */
function made(different: Partial<Record<keyof typeof COLUMNS, string>>, more = ''): readonly string[] {
  const columns = Object.values({ ...COLUMNS, ...different }).join(', ');
  return ['DROP TABLE shedlock', `CREATE TABLE shedlock (${columns}${more})`];
}

const NO_KEY = { name: 'name TEXT NOT NULL' };

export const SQLITE_FLAWS: readonly Flaw[] = [
  flaws.NO_TABLE,
  flaws.view('ALTER TABLE shedlock RENAME TO locks'),
  flaws.unsuitable('a virtual table', 'is a virtual table, not an ordinary one\\.', [
    'DROP TABLE shedlock',
    `CREATE VIRTUAL TABLE shedlock USING fts5(${Object.keys(COLUMNS).join(', ')})`,
  ]),
  ...flaws.withoutColumns((column) => made({ [column]: 'other INT' })),
  ...flaws.wrongTypes('lock_until', 'INTEGER', ['TEXT', 'DATETIME', 'REAL', ''], (type) =>
    made({ lock_until: `lock_until ${type} NOT NULL` }),
  ),
  ...flaws.wrongTypes('name', 'TEXT', ['BLOB'], (type) =>
    made({ name: `name ${type} NOT NULL PRIMARY KEY` }),
  ),
  flaws.namesNotUnique('no key', made(NO_KEY)),
  flaws.namesNotUnique('a key of two columns', made(NO_KEY, ', PRIMARY KEY (name, locked_by)')),
  flaws.namesNotUnique('a key on a part of the rows', [
    ...made(NO_KEY),
    `CREATE UNIQUE INDEX part ON shedlock (name) WHERE locked_by <> ''`,
  ]),
  flaws.columnNeedsValue(made({}, ', region TEXT NOT NULL')),
  [
    'names that are folded',
    'inexact-names',
    flaws.FOLDED,
    made({ name: 'name TEXT COLLATE NOCASE NOT NULL PRIMARY KEY' }),
    'by hand',
  ],
  flaws.noToken(),
];

export const SQLITE_VARIANTS: Variants = {
  'columns that may be NULL': made({
    lock_until: 'lock_until INTEGER',
    locked_at: 'locked_at INTEGER',
    locked_by: 'locked_by TEXT',
  }),
  'types with other names': made({
    name: 'name varchar(64) PRIMARY KEY',
    lock_until: 'lock_until BIGINT NOT NULL',
    fencing_token: 'fencing_token int',
  }),
  'another primary key, and a unique index on the name': made({
    name: 'id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE',
  }),
  'further columns that need no value': made(
    {},
    `, note TEXT, made TEXT NOT NULL DEFAULT '', size INT AS (length(name)) STORED`,
  ),
  'columns in capital letters': made({
    lock_until: 'LOCK_UNTIL INTEGER NOT NULL',
    fencing_token: 'FENCING_TOKEN INTEGER NOT NULL',
  }),
};
