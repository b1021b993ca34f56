import type { Flaw } from './flaw';

/** Flaws with the same statements on every kind of database. */
export const NO_TABLE: Flaw = {
  flaw: 'no table',
  changes: ['DROP TABLE shedlock'],
  ...{ code: 'missing-table', message: /is missing.*Create it with npx cronlatch init/, isMended: false },
};

export const NO_TOKEN: Flaw = {
  flaw: 'no token',
  changes: ['ALTER TABLE shedlock DROP COLUMN fencing_token'],
  ...{
    code: 'no-fencing-token',
    severity: 'warning',
    message: /no column 'fencing_token', so its locks have no/,
  },
};

export function view(rename: string): Flaw {
  return {
    flaw: 'a view',
    changes: [rename, 'CREATE VIEW shedlock AS SELECT * FROM locks'],
    ...{
      code: 'unsuitable-table',
      message: /is a view, not a table\. Create the table with createTables\(\) or the migration/,
      isMended: false,
    },
  };
}

export const NEEDED_COLUMNS = ['name', 'lock_until', 'locked_at', 'locked_by'] as const;

export function withoutColumn(column: string, changes: readonly string[]): Flaw {
  return {
    flaw: `no column ${column}`,
    changes,
    ...{
      code: 'missing-column',
      message: new RegExp(`no column '${column}'\\. Recreate the table`),
      isMended: false,
    },
  };
}

export function columnNeedsValue(changes: readonly string[]): Flaw {
  return {
    flaw: 'a further column that needs a value',
    changes,
    ...{
      code: 'column-needs-value',
      message: /'region' that requires a value.*Give the column a default/,
      isMended: false,
    },
  };
}

/** @param flaw a phrase about the key */
export function namesNotUnique(flaw: string, changes: readonly string[]): Flaw {
  return { flaw, changes, code: 'names-not-unique', message: /on 'name' alone/ };
}
