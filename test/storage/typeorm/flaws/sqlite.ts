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

export const SQLITE_FLAWS: readonly Flaw[] = [
  NO_TABLE,
  view('ALTER TABLE shedlock RENAME TO locks'),
  {
    flaw: 'a virtual table',
    changes: [
      'DROP TABLE shedlock',
      `CREATE VIRTUAL TABLE shedlock USING fts5(${Object.keys(COLUMNS).join(', ')})`,
    ],
    ...{
      code: 'unsuitable-table',
      message: /is a virtual table, not an ordinary one\. Create the/,
      isMended: false,
    },
  },
  ...NEEDED_COLUMNS.map((column) => withoutColumn(column, made({ [column]: 'other INT' }))),
  ...['TEXT', 'DATETIME', 'REAL', ''].map((type): Flaw => ({
    flaw: `lock_until of type '${type}'`,
    changes: made({ lock_until: `lock_until ${type} NOT NULL` }),
    ...{ code: 'wrong-type', message: /'lock_until' of .*must be INTEGER/, isMended: false },
  })),
  {
    flaw: 'name of type BLOB',
    changes: made({ name: 'name BLOB NOT NULL PRIMARY KEY' }),
    ...{ code: 'wrong-type', message: /'name' of type BLOB,.*must be TEXT/, isMended: false },
  },
  namesNotUnique('no key', made({ name: 'name TEXT NOT NULL' })),
  namesNotUnique(
    'a key of two columns',
    made({ name: 'name TEXT NOT NULL' }, ', PRIMARY KEY (name, locked_by)'),
  ),
  namesNotUnique('a key on a part of the rows', [
    ...made({ name: 'name TEXT NOT NULL' }),
    `CREATE UNIQUE INDEX part ON shedlock (name) WHERE locked_by <> ''`,
  ]),
  columnNeedsValue(made({}, ', region TEXT NOT NULL')),
  {
    flaw: 'names that are folded',
    changes: made({ name: 'name TEXT COLLATE NOCASE NOT NULL PRIMARY KEY' }),
    ...{
      code: 'inexact-names',
      severity: 'warning',
      message: /'name' that compares different values as equal/,
      isMended: false,
    },
  },
  NO_TOKEN,
];

export const SQLITE_VARIANTS: readonly Variant[] = [
  {
    variant: 'columns that may be NULL',
    changes: made({
      lock_until: 'lock_until INTEGER',
      locked_at: 'locked_at INTEGER',
      locked_by: 'locked_by TEXT',
    }),
  },
  {
    variant: 'types with other names',
    changes: made({
      name: 'name varchar(64) PRIMARY KEY',
      lock_until: 'lock_until BIGINT NOT NULL',
      fencing_token: 'fencing_token int',
    }),
  },
  {
    variant: 'another primary key, and a unique index on the name',
    changes: made({ name: 'id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE' }),
  },
  {
    variant: 'further columns that need no value',
    changes: made({}, `, note TEXT, made TEXT NOT NULL DEFAULT '', size INT AS (length(name)) STORED`),
  },
  {
    variant: 'columns in capital letters',
    changes: made({
      lock_until: 'LOCK_UNTIL INTEGER NOT NULL',
      fencing_token: 'FENCING_TOKEN INTEGER NOT NULL',
    }),
  },
];
