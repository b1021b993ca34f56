import type { SqlDialect } from '../dialects/sql-dialect';
import { columnLine } from './create-table';
import type { ColumnUse, InspectedColumn } from './inspected-table';
import { refusal, warning, type TableFlaw } from './schema-finding';
import type {
  ColumnKind,
  ColumnRoom,
  ColumnTolerance,
  TableColumn,
  TableDefinition,
} from './table-definition';

/** A column of the definition, and the column of that name in the table. */
export interface ColumnPair {
  readonly column: TableColumn;
  readonly found: InspectedColumn | undefined;
}

export interface ColumnContext {
  readonly dialect: SqlDialect;
  readonly definition: TableDefinition;
  /** The table that the column is in, quoted. */
  readonly table: string;
  /** The sessions are the application's. */
  readonly sharesSessions: boolean;
}

const USES: Readonly<Record<ColumnKind['is'], ColumnUse>> = {
  id: 'integer',
  text: 'text',
  word: 'text',
  note: 'document',
  document: 'document',
  count: 'count',
  integer: 'integer',
  instant: 'instant',
};

/** Longer texts are cut, and the mark of the cut needs room, too. */
const LEAST_LENGTHS = { note: 8 * 1024 + 256, document: 64 * 1024 + 256 };

/** With fewer digits, a lock that was just released could seem held for up to a second. */
const LEAST_PRECISION = 3;

/** Checks whether a column can hold what it is for. */
export function verifyColumn({ column, found }: ColumnPair, context: ColumnContext): TableFlaw[] {
  const { name, kind, nullable, room } = column;
  const { dialect, table } = context;
  if (found === undefined) return [missing(column, context)];
  const type = dialect.columnTypes.type(kind);
  // Without a time zone in the type, the session's zone would decide.
  const lacksTimeZone = kind.is === 'instant' && found.hasTimeZone === false;
  if (!found.holds.includes(USES[kind.is]) || (lacksTimeZone && !tolerates(column, 'any-time-zone')))
    return [wrongType(found, type)];
  const alteredTo = (to: string): string | undefined =>
    dialect.columnTypes.alter(table, dialect.quote(name), to, { nullable });
  switch (kind.is) {
    case 'id':
      return found.isRequired ? [notNumbered(found)] : [];
    case 'text': {
      // The fix keeps the width of the column: a narrower one could cut its values.
      const widened = { ...kind, length: Math.max(kind.length, found.length ?? 0) };
      return [
        ...tooShort(found, room ?? roomFor(kind.length), alteredTo(type)),
        ...notUnique(column, found, context),
        ...inexact(column, found, context, alteredTo(dialect.columnTypes.type(widened))),
      ];
    }
    case 'word':
      return tooShort(found, roomFor(kind.length), alteredTo(type));
    case 'note':
    case 'document':
      return [
        ...tooShort(found, roomFor(LEAST_LENGTHS[kind.is]), alteredTo(type)),
        ...notUnicode(found, alteredTo(type)),
      ];
    case 'instant':
      if (found.isInSessionZone && !tolerates(column, 'any-time-zone'))
        return [inSessionZone(found, alteredTo(type))];
      return unreliable(column, found, context, alteredTo(dialect.columnTypes.preciseInstant(found)));
    case 'count':
    case 'integer':
      return [];
  }
}

export function tolerates(column: TableColumn, tolerance: ColumnTolerance): boolean {
  return column.tolerates?.includes(tolerance) === true;
}

function missing(column: TableColumn, { dialect, table }: ColumnContext): TableFlaw {
  const { name, nullable } = column;
  const add = `ALTER TABLE ${table} ADD COLUMN ${columnLine(column, dialect)}`;
  if (tolerates(column, 'absence'))
    return warning('no-fencing-token', `has no column '${name}', so its locks have no fencing token`, add);
  if (!nullable) return refusal('missing-column', `has no column '${name}'. Create the table anew`);
  return refusal('missing-column', `has no column '${name}'`, add);
}

/** @param needed the migration's type */
function wrongType({ name, type }: InspectedColumn, needed: string): TableFlaw {
  return refusal(
    'wrong-type',
    `has a column '${name}' of type ${type}, which cannot hold what it should: it must be ${needed}. Create the table anew`,
  );
}

function notNumbered({ name }: InspectedColumn): TableFlaw {
  return refusal(
    'column-needs-value',
    `has a column '${name}' that does not number its rows by itself. Create the table anew`,
  );
}

function roomFor(length: number): ColumnRoom {
  return { characters: length, because: `it may have up to ${length}` };
}

function tooShort(
  { name, length }: InspectedColumn,
  { characters, because }: ColumnRoom,
  remedy: string | undefined,
): TableFlaw[] {
  if (length === undefined || length >= characters) return [];
  return [
    refusal('column-too-short', `has a column '${name}' for ${length} characters, but ${because}`, remedy),
  ];
}

function notUnique(
  { name }: TableColumn,
  found: InspectedColumn,
  { dialect, definition: { path, primaryKey }, table }: ColumnContext,
): TableFlaw[] {
  if (name !== primaryKey || found.isUnique) return [];
  return [
    refusal(
      'names-not-unique',
      `has no primary key or unique index on '${found.name}' alone: two instances could both insert a lock`,
      `CREATE UNIQUE INDEX ${dialect.quote(`${path.at(-1)}_${name}`)} ON ${table} (${dialect.quote(name)})`,
    ),
  ];
}

/** Checks that the column stores texts unchanged and never compares two keys as equal. */
function inexact(
  column: TableColumn,
  found: InspectedColumn,
  { sharesSessions }: ColumnContext,
  remedy: string | undefined,
): TableFlaw[] {
  if (tolerates(column, 'any-charset')) return [];
  const folds = `has a column '${found.name}' to which different names can be equal, as 'job' and 'Job'`;
  const isFolded = column.isKey === true && found.comparesBytes === false;
  if (!tolerates(column, 'folding'))
    return isFolded ? [refusal('inexact-names', folds, remedy)] : notUnicode(found, remedy);
  // In our own sessions, the server refuses a name that the column cannot store.
  if (found.isUnicode === false && sharesSessions)
    return notUnicode(
      found,
      remedy,
      `, and with connections: 'shared' the application's sessions may store another one instead`,
    );
  if (!isFolded) return [];
  return [warning('inexact-names', `${folds}. A lock that meets the row of another one is refused`, remedy)];
}

function notUnicode(
  { name, isUnicode }: InspectedColumn,
  remedy: string | undefined,
  consequence = '',
): TableFlaw[] {
  if (isUnicode !== false) return [];
  const what = `has a column '${name}' that does not take every character${consequence}`;
  return [refusal('inexact-names', what, remedy)];
}

/** Our own sessions are in UTC, but `inRunTransaction` uses a session of the application. */
function inSessionZone({ name, type }: InspectedColumn, remedy: string | undefined): TableFlaw {
  const what = `has a column '${name}' of type ${type}: each session writes and reads it in its own time zone, and inRunTransaction() writes on a session of the application. Change the column in a session with time_zone '+00:00'`;
  return refusal('session-time-zone', what, remedy);
}

/** Checks that an instant keeps its digits and its value. */
function unreliable(
  column: TableColumn,
  { name, type, precision = LEAST_PRECISION, isInSessionZone, changesByItself }: InspectedColumn,
  { sharesSessions, definition }: ColumnContext,
  remedy: string | undefined,
): TableFlaw[] {
  const flaws: TableFlaw[] = [];
  if (precision < LEAST_PRECISION) {
    const what = `has a column '${name}' with ${precision} digits of the second, fewer than ${LEAST_PRECISION}`;
    flaws.push(refusal('imprecise-time', what, remedy));
  }
  if (isInSessionZone && sharesSessions) {
    const what = `has a column '${name}' of type ${type}, which is read in the time zone of the session, and with connections: 'shared' the sessions are the application's. Leave connections at 'own'`;
    flaws.push(refusal('session-time-zone', what));
  }
  if (changesByItself && !tolerates(column, 'changes')) {
    const consequence =
      definition.row === 'lock'
        ? ', so that lockAtLeastFor would begin anew with every extension'
        : ' of its row';
    const what = `has a column '${name}' that changes with every update${consequence}`;
    flaws.push(refusal('unstable-time', what, remedy));
  }
  return flaws;
}
