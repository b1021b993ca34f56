import type { SchemaFinding } from 'cronlatch/typeorm';

type Changes = string | readonly string[];

/**
 * A table that differs in one thing from that of the migration: its finding, and the statements that turn the
 * migration's empty table into it. `by hand`: no statement fixes it, although others with this code have one.
 */
export type Flaw = readonly [
  flaw: string,
  code: SchemaFinding['code'],
  message: RegExp,
  changes: Changes,
  fixed?: 'by hand',
];

/** Tables with a difference that does not matter. */
export type Variants = Readonly<Record<string, Changes>>;

const FIXED_BY_HAND = ['missing-table', 'unsuitable-table', 'wrong-type', 'column-needs-value'];

export function hasRemedy([, code, , , fixed]: Flaw): boolean {
  return fixed === undefined && !FIXED_BY_HAND.includes(code);
}

// Flaws of a lock table with the same statements on every kind of database.

export const NO_TABLE: Flaw = [
  'no table',
  'missing-table',
  /is missing.*Create it with npx cronlatch init/,
  'DROP TABLE shedlock',
];

const DROP_TOKEN = 'ALTER TABLE shedlock DROP COLUMN fencing_token';

/** @param more statements against another finding */
export function noToken(...more: readonly string[]): Flaw {
  const message = /no column 'fencing_token', so its locks have no/;
  return ['no token', 'no-fencing-token', message, [DROP_TOKEN, ...more]];
}

/** @param is what the message contains about the table */
export function unsuitable(flaw: string, is: string, changes: Changes): Flaw {
  const message = new RegExp(`${is}.*Create the table with createTables\\(\\) or the migration`);
  return [flaw, 'unsuitable-table', message, changes];
}

export function view(rename: string): Flaw {
  const changes = [rename, 'CREATE VIEW shedlock AS SELECT * FROM locks'];
  return unsuitable('a view', 'is a view, not a table\\.', changes);
}

export function withoutColumns(changes: (column: string) => Changes): readonly Flaw[] {
  return ['name', 'lock_until', 'locked_at', 'locked_by'].map((column) => {
    const message = new RegExp(`no column '${column}'\\. Recreate the table`);
    return [`no column ${column}`, 'missing-column', message, changes(column), 'by hand'];
  });
}

/** @param type the only right one, as the message calls it */
export function wrongTypes(
  column: string,
  type: string,
  wrong: readonly string[],
  changes: (type: string) => Changes,
): readonly Flaw[] {
  const message = new RegExp(`'${column}' of type [^,]*, but it must be ${type}`);
  return wrong.map((each) => [`${column} of type '${each}'`, 'wrong-type', message, changes(each)]);
}

export function columnNeedsValue(changes: Changes): Flaw {
  const message = /'region' that requires a value.*Give the column a default/;
  return ['a further column that needs a value', 'column-needs-value', message, changes];
}

/** @param flaw a phrase about the key */
export function namesNotUnique(flaw: string, changes: Changes): Flaw {
  return [flaw, 'names-not-unique', /on 'name' alone/, changes];
}

/** The names and the owners that an otherwise correct table has no room for. */
export function tooShort(name: Changes, owner: Changes): readonly Flaw[] {
  const ofName = /'name' with room for 63 characters, but nameLength is 64\. Lower nameLength, or/;
  const ofOwner = /'locked_by' with room for 100 characters, but an owner has up to 240/;
  return [
    ['a name that is too short', 'column-too-short', ofName, name],
    ['locked_by that is too short', 'column-too-short', ofOwner, owner],
  ];
}

export function imprecise(column: string, type: string, digits: number, changes: Changes): Flaw {
  const message = new RegExp(`'${column}' with ${digits} fractional digits`);
  return [`${column} ${type}`, 'imprecise-time', message, changes];
}

export const FOLDED = /'name' that compares different values as equal/;
