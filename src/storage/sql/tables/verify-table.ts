import type { SqlDatabase } from '../connections/sql-database';
import { quotePath, type SqlDialect } from '../dialects/sql-dialect';
import { columnLine } from './create-table';
import {
  columnPairs,
  uniqueIndexOn,
  type InspectedColumn,
  type InspectedTable,
} from '../schema/inspected-table';
import type { SchemaFinding, SchemaFindingCode } from '../schema/schema-finding';
import type {
  ColumnKind,
  ColumnTolerance,
  TableColumn,
  TableDefinition,
  TableIndex,
} from '../schema/table-definition';

interface Subject extends Pick<SqlDatabase, 'dialect'> {
  readonly definition: TableDefinition;
  readonly found: InspectedTable;
  readonly pairs: ReturnType<typeof columnPairs>;
  /** Columns that are not in the definition. */
  readonly additional: readonly InspectedColumn[];
  /** Its name, quoted. */
  readonly table: string;
}

interface ColumnSubject extends Omit<Subject, 'found'> {
  readonly column: TableColumn;
  readonly found: InspectedColumn;
  /** The statement that gives the column another type, if there is one. Default: the type of the migration. */
  readonly altered: (type?: string) => string | undefined;
}

/** A finding before its message names the table. */
interface TableFlaw extends Omit<SchemaFinding, 'message'> {
  readonly problem: string;
}

type TableRule = (subject: Subject) => readonly TableFlaw[];
type ColumnRule = (subject: ColumnSubject) => TableFlaw | false | undefined;

function refusal(code: SchemaFindingCode, problem: string, remedy?: string): TableFlaw {
  return { severity: 'error', code, problem, remedy };
}

function warning(code: SchemaFindingCode, problem: string, remedy?: string): TableFlaw {
  return { severity: 'warning', code, problem, remedy };
}

/** With fewer digits, a released lock could seem held for up to a second. */
const LEAST_PRECISION = 3;

const isOfType: ColumnRule = ({ column, found, dialect }) => {
  const { kind } = column;
  // Without a time zone in the type, the session's zone would decide.
  const lacksTimeZone = kind.is === 'instant' && found.hasTimeZone === false;
  if (found.holds.includes(kind.is) && (!lacksTimeZone || tolerates(column, 'any-time-zone')))
    return undefined;
  const needed = dialect.columnTypes.type(kind);
  const problem = `has a column '${found.name}' of type ${found.type}, but it must be ${needed}. Recreate the table`;
  return refusal('wrong-type', problem);
};

/** Our own sessions are in UTC, but `inRunTransaction` uses a session of the application. */
const isInOneZone: ColumnRule = ({ column, found: { name, type, isInSessionZone }, altered }) => {
  const problem = `has a column '${name}' of type ${type}, whose values depend on the time zone of the session, and inRunTransaction() uses a session of the application. Change the column in a session with time_zone '+00:00'`;
  return (
    isInSessionZone && !tolerates(column, 'any-time-zone') && refusal('session-time-zone', problem, altered())
  );
};

const numbersRows: ColumnRule = ({ found: { name, isRequired } }) => {
  const problem = `has a column '${name}' that does not generate numbers for new rows. Recreate the table`;
  return isRequired && refusal('column-needs-value', problem);
};

const hasRoom: ColumnRule = ({ column: { kind, room }, found: { name, length = Infinity }, altered }) => {
  const longest = 'length' in kind ? kind.length : 0;
  const because = room?.because ?? `its values have up to ${longest}. Widen the column`;
  const problem = `has a column '${name}' with room for ${length} characters, but ${because}`;
  return length < (room?.characters ?? longest) && refusal('column-too-short', problem, altered());
};

const isUnique: ColumnRule = ({ column: { name }, found, definition, dialect, table }) => {
  const { path, primaryKey, row } = definition;
  const consequence =
    row === 'lock' ? 'two instances could both hold a lock' : `two rows could stand for one ${row}`;
  const problem = `has no primary key or unique index on '${found.name}' alone, so ${consequence}`;
  const index = dialect.quote(`${path.at(-1)}_${name}`);
  const remedy = `CREATE UNIQUE INDEX ${index} ON ${table} (${dialect.quote(name)})`;
  return name === primaryKey && !found.isUnique && refusal('names-not-unique', problem, remedy);
};

/** The fix keeps the width of the column: a narrower one could cut its values. */
function inexact(
  { column: { kind }, found: { length = 0 }, dialect, altered }: ColumnSubject,
  problem: string,
) {
  const widened = 'length' in kind ? { ...kind, length: Math.max(kind.length, length) } : kind;
  return refusal('inexact-names', problem, altered(dialect.columnTypes.type(widened)));
}

const isUnicode: ColumnRule = (subject) => {
  const { name, isUnicode: isSo } = subject.found;
  return (
    isSo === false && inexact(subject, `has a column '${name}' that cannot store every Unicode character`)
  );
};

/** It stores texts unchanged, and never compares two keys as equal. */
const isExact: ColumnRule = (subject) => {
  const { column, found, dialect } = subject;
  if (tolerates(column, 'any-charset')) return undefined;
  const folds = `has a column '${found.name}' that compares different values as equal, for example 'job' and 'Job'`;
  const isFolded = column.isKey === true && found.comparesBytes === false;
  // A lock's name may be in another charset: the server refuses a name that the column cannot store.
  if (!tolerates(column, 'folding')) return isFolded ? inexact(subject, folds) : isUnicode(subject);
  const cost =
    dialect.groupStatements === undefined
      ? ''
      : ', and locks that are due together are not grouped: each waits for the commits of all before it';
  const problem = `${folds}. A lock whose name collides with another one cannot be acquired${cost}`;
  return isFolded && { ...inexact(subject, problem), severity: 'warning' };
};

const isPrecise: ColumnRule = ({ found, dialect, altered }) => {
  const { name, precision = LEAST_PRECISION } = found;
  const problem = `has a column '${name}' with ${precision} fractional digits of the second, but at least ${LEAST_PRECISION} are needed`;
  const remedy = altered(dialect.columnTypes.preciseInstant(found));
  return precision < LEAST_PRECISION && refusal('imprecise-time', problem, remedy);
};

const isStable: ColumnRule = ({ column, found, definition, dialect, altered }) => {
  const consequence =
    definition.row === 'lock' ? ', so every extension would restart lockAtLeastFor' : ' of its row';
  const problem = `has a column '${found.name}' that changes with every update${consequence}`;
  const remedy = altered(dialect.columnTypes.preciseInstant(found));
  return found.changesByItself && !tolerates(column, 'changes') && refusal('unstable-time', problem, remedy);
};

/** If one of these finds a flaw, the others do not apply. */
const TYPE_RULES: readonly ColumnRule[] = [isOfType, isInOneZone];

const RULES: Readonly<Record<ColumnKind['is'], readonly ColumnRule[]>> = {
  id: [numbersRows],
  text: [hasRoom, isUnique, isExact],
  word: [hasRoom],
  note: [hasRoom, isUnicode],
  document: [hasRoom, isUnicode],
  count: [],
  integer: [],
  instant: [isPrecise, isStable],
};

const holdsColumns: TableRule = (subject) =>
  subject.pairs.flatMap(({ column, found }) => {
    if (found === undefined) return [missingColumn(column, subject)];
    const { dialect, table } = subject;
    const altered = (type = dialect.columnTypes.type(column.kind)): string | undefined =>
      dialect.columnTypes.alter(table, dialect.quote(column.name), type, column.nullable);
    const flawsBy = (rules: readonly ColumnRule[]): TableFlaw[] =>
      rules.flatMap((rule) => rule({ ...subject, column, found, altered }) || []);
    const [flaw] = flawsBy(TYPE_RULES);
    return flaw === undefined ? flawsBy(RULES[column.kind.is]) : [flaw];
  });

function missingColumn(column: TableColumn, { dialect, table }: Subject): TableFlaw {
  const { name, nullable } = column;
  const add = `ALTER TABLE ${table} ADD COLUMN ${columnLine(column, dialect)}`;
  if (tolerates(column, 'absence'))
    return warning('no-fencing-token', `has no column '${name}', so its locks have no fencing token`, add);
  if (!nullable) return refusal('missing-column', `has no column '${name}'. Recreate the table`);
  return refusal('missing-column', `has no column '${name}'. Add it with npx cronlatch init`, add);
}

/** The instants whose type may differ from the migration's: those of the lock table. */
const agreesOnZones: TableRule = ({ pairs, found: { isServerInUtc }, dialect, table }) => {
  const instants = pairs.filter(({ column }) => tolerates(column, 'any-time-zone'));
  const [until, at] = instants.map(({ found }) => found);
  if (!until?.holds.includes('instant') || !at) return [];
  // Statements compute each instant from the other one.
  const isMixed = at.holds.includes('instant') && until.hasTimeZone !== at.hasTimeZone;
  const types = `'${until.name}' of type ${until.type} and '${at.name}' of type ${at.type}`;
  const mixed = `has columns ${types}, but only one of them has a time zone, so times would depend on the session. Recreate the table`;
  // ShedLock for Java writes UTC values in any time zone of its sessions. Our own sessions are always in UTC.
  const hasToken = pairs.every(({ column, found }) => found !== undefined || !tolerates(column, 'absence'));
  const isInOtherZone = until.isInSessionZone && isServerInUtc === false;
  const isMadeForJava = until.hasTimeZone && !hasToken;
  const zone = isInOtherZone ? ', and the time zone of the server is not UTC' : '';
  const misread = `has a column '${until.name}' of type ${until.type}${zone}. If ShedLock for Java uses this table, set the time zone of its sessions to UTC, or the two misread each other's times: east of UTC, Java's job does not run for hours after each lock of cronlatch, and cronlatch does not see Java's locks. West of UTC, it is the other way round. To keep Java's zone instead, change the columns in a session with that zone while no job runs`;
  const names = instants.map(({ column }) => dialect.quote(column.name));
  const remedy = dialect.columnTypes.withoutTimeZone?.(table, names);
  return [
    ...(isMixed ? [refusal('wrong-type', mixed)] : []),
    ...(isInOtherZone || isMadeForJava ? [warning('session-time-zone', misread, remedy)] : []),
  ];
};

/** Older versions did not create all indexes for speed. */
const hasIndexes: TableRule = ({ definition: { path, indexes }, found, dialect }) =>
  indexes.flatMap((index) => {
    const { columns, isUnique } = index;
    const beginsWith = (other: TableIndex): boolean =>
      columns.every((column, position) => other.columns[position]?.toLowerCase() === column);
    if (isUnique ? uniqueIndexOn(columns, found.indexes) : found.indexes.some(beginsWith)) return [];
    const listed = columns.join(', ');
    const unique = `has no unique index on (${listed}), so two instances could both start the run of the same period`;
    const missing = `has no index on (${listed}), so some statements read the whole table`;
    const remedy = dialect.columnTypes.createIndex(path, index);
    return isUnique ? refusal('runs-not-unique', unique, remedy) : warning('missing-index', missing, remedy);
  });

/** The library's inserts leave other columns out. */
const takesInserts: TableRule = ({ definition: { row }, additional }) =>
  additional
    .filter(({ isRequired }) => isRequired)
    .map(({ name }) => {
      const problem = `has an additional column '${name}' that requires a value, so cronlatch cannot insert a ${row}. Give the column a default`;
      return refusal('column-needs-value', problem);
    });

/** An older version may still write them. */
const usesColumns: TableRule = ({ definition: { row }, additional }) => {
  const unused = additional.filter(({ isRequired }) => !isRequired).map(({ name }) => name);
  const problem = `has columns that this version does not use: ${unused.join(', ')}. They may stay`;
  return row !== 'job' || unused.length === 0 ? [] : [warning('unused-columns', problem)];
};

const TABLE_RULES: readonly TableRule[] = [
  holdsColumns,
  agreesOnZones,
  hasIndexes,
  takesInserts,
  usesColumns,
];

export function verifyTable(
  definition: TableDefinition,
  found: InspectedTable,
  context: Pick<SqlDatabase, 'dialect' | 'address'>,
): readonly SchemaFinding[] {
  const name = definition.path.join('.');
  return flawsOf(definition, found, context.dialect).map(({ severity, code, problem, remedy }) => {
    const run = remedy === undefined ? '' : ` Run: ${remedy};`;
    return { severity, code, message: `Table '${name}' in ${context.address} ${problem}.${run}`, remedy };
  });
}

function flawsOf(definition: TableDefinition, found: InspectedTable, dialect: SqlDialect): TableFlaw[] {
  if (found.columns.length === 0)
    return [
      refusal('missing-table', `is missing, or this database user has no access to it. ${definition.remedy}`),
    ];
  if (found.unsuitable !== undefined) {
    const problem = `${found.unsuitable}. Create the table with createTables() or the migration`;
    return [refusal('unsuitable-table', problem)];
  }
  const unlogged = `cannot be written at READ COMMITTED, because binlog_format is STATEMENT. Use ROW or MIXED, also in the configuration of the server, and restart the instances`;
  if (found.refusesReadCommitted)
    return [refusal('statement-log', unlogged, `SET GLOBAL binlog_format = 'ROW'`)];
  const pairs = columnPairs(definition, found, dialect.inspection);
  const additional = found.columns.filter((column) => !pairs.some((pair) => pair.found === column));
  const table = quotePath(definition.path, dialect);
  return TABLE_RULES.flatMap((rule) => rule({ definition, found, pairs, additional, dialect, table }));
}

function tolerates(column: TableColumn, tolerance: ColumnTolerance): boolean {
  return column.tolerates?.includes(tolerance) === true;
}
