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

/** Longer texts are cut, and the mark of the cut also needs room. */
const LEAST_LENGTHS = { note: 8 * 1024 + 256, document: 64 * 1024 + 256 };

/** With fewer digits, a released lock could seem held for up to a second. */
const LEAST_PRECISION = 3;

/** Checks whether a column can hold what it is for. */
export function verifyColumn({ column, found }: ColumnPair, context: ColumnContext): TableFlaw[] {
  const { name, kind, nullable, room } = column;
  const { dialect, table } = context;
  if (found === undefined) return [missingColumn(column, context)];
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
        ...inexactText(column, found, context, alteredTo(dialect.columnTypes.type(widened))),
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
      return unreliableInstant(column, found, context, alteredTo(dialect.columnTypes.preciseInstant(found)));
    case 'count':
    case 'integer':
      return [];
  }
}

export function tolerates(column: TableColumn, tolerance: ColumnTolerance): boolean {
  return column.tolerates?.includes(tolerance) === true;
}

function missingColumn(column: TableColumn, { dialect, table }: ColumnContext): TableFlaw {
  const { name, nullable } = column;
  const add = `ALTER TABLE ${table} ADD COLUMN ${columnLine(column, dialect)}`;
  if (tolerates(column, 'absence'))
    return warning('no-fencing-token', `has no column '${name}', so its locks have no fencing token`, add);
  if (!nullable) return refusal('missing-column', `has no column '${name}'. Recreate the table`);
  return refusal('missing-column', `has no column '${name}'`, add);
}

/** @param needed the migration's type */
function wrongType({ name, type }: InspectedColumn, needed: string): TableFlaw {
  const problem = `has a column '${name}' of type ${type}, but it must be ${needed}. Recreate the table`;
  return refusal('wrong-type', problem);
}

function notNumbered({ name }: InspectedColumn): TableFlaw {
  const problem = `has a column '${name}' that does not generate numbers for new rows. Recreate the table`;
  return refusal('column-needs-value', problem);
}

function roomFor(length: number): ColumnRoom {
  return { characters: length, because: `its values have up to ${length}. Widen the column` };
}

function tooShort(
  { name, length }: InspectedColumn,
  { characters, because }: ColumnRoom,
  remedy: string | undefined,
): TableFlaw[] {
  if (length === undefined || length >= characters) return [];
  const problem = `has a column '${name}' with room for ${length} characters, but ${because}`;
  return [refusal('column-too-short', problem, remedy)];
}

function notUnique(
  { name }: TableColumn,
  found: InspectedColumn,
  { dialect, definition: { path, primaryKey, row }, table }: ColumnContext,
): TableFlaw[] {
  if (name !== primaryKey || found.isUnique) return [];
  const consequence =
    row === 'lock' ? 'two instances could both hold a lock' : `two rows could stand for one ${row}`;
  const problem = `has no primary key or unique index on '${found.name}' alone, so ${consequence}`;
  const index = dialect.quote(`${path.at(-1)}_${name}`);
  const remedy = `CREATE UNIQUE INDEX ${index} ON ${table} (${dialect.quote(name)})`;
  return [refusal('names-not-unique', problem, remedy)];
}

/** Checks that the column stores texts unchanged and never compares two keys as equal. */
function inexactText(
  column: TableColumn,
  found: InspectedColumn,
  { sharesSessions, dialect }: ColumnContext,
  remedy: string | undefined,
): TableFlaw[] {
  if (tolerates(column, 'any-charset')) return [];
  const folds = `has a column '${found.name}' that compares different values as equal, for example 'job' and 'Job'`;
  const isFolded = column.isKey === true && found.comparesBytes === false;
  if (!tolerates(column, 'folding'))
    return isFolded ? [refusal('inexact-names', folds, remedy)] : notUnicode(found, remedy);
  // In our own sessions, the server refuses a name that the column cannot store.
  if (found.isUnicode === false && sharesSessions) {
    const consequence = `. With connections: 'shared', the application's sessions may store a different name instead`;
    return notUnicode(found, remedy, consequence);
  }
  const cost =
    dialect.groupTexts === undefined
      ? ''
      : ', and locks that are due together are not grouped: each waits for the commits of all before it';
  const problem = `${folds}. A lock whose name collides with another one cannot be acquired${cost}`;
  return isFolded ? [warning('inexact-names', problem, remedy)] : [];
}

function notUnicode(
  { name, isUnicode }: InspectedColumn,
  remedy: string | undefined,
  consequence = '',
): TableFlaw[] {
  if (isUnicode !== false) return [];
  const problem = `has a column '${name}' that cannot store every Unicode character${consequence}`;
  return [refusal('inexact-names', problem, remedy)];
}

/** Our own sessions are in UTC, but `inRunTransaction` uses a session of the application. */
function inSessionZone({ name, type }: InspectedColumn, remedy: string | undefined): TableFlaw {
  const problem = `has a column '${name}' of type ${type}, whose values depend on the time zone of the session, and inRunTransaction() uses a session of the application. Change the column in a session with time_zone '+00:00'`;
  return refusal('session-time-zone', problem, remedy);
}

/** Checks that an instant keeps its digits and its value. */
function unreliableInstant(
  column: TableColumn,
  { name, type, precision = LEAST_PRECISION, isInSessionZone, changesByItself }: InspectedColumn,
  { sharesSessions, definition }: ColumnContext,
  remedy: string | undefined,
): TableFlaw[] {
  const flaws: TableFlaw[] = [];
  if (precision < LEAST_PRECISION) {
    const problem = `has a column '${name}' with ${precision} fractional digits of the second, but at least ${LEAST_PRECISION} are needed`;
    flaws.push(refusal('imprecise-time', problem, remedy));
  }
  if (isInSessionZone && sharesSessions) {
    const problem = `has a column '${name}' of type ${type}, whose values depend on the time zone of the session, and connections: 'shared' uses the application's sessions. Leave connections at 'own'`;
    flaws.push(refusal('session-time-zone', problem));
  }
  if (changesByItself && !tolerates(column, 'changes')) {
    const consequence =
      definition.row === 'lock' ? ', so every extension would restart lockAtLeastFor' : ' of its row';
    const problem = `has a column '${name}' that changes with every update${consequence}`;
    flaws.push(refusal('unstable-time', problem, remedy));
  }
  return flaws;
}
