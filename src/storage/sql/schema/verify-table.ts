import { quotePath, type SqlDialect } from '../dialects/sql-dialect';
import { createIndex } from './create-table';
import type { InspectedColumn, InspectedIndex, InspectedTable } from './inspected-table';
import { refusal, warning, type SchemaFinding, type TableFlaw } from './schema-finding';
import type { TableDefinition, TableIndex } from './table-definition';
import { verifyColumn, type ColumnPair } from './verify-column';
import { verifyTimeZones } from './verify-time-zones';

export interface VerificationContext {
  readonly dialect: SqlDialect;
  /** The database's address, without credentials. */
  readonly address: string;
  /** The sessions are the application's, with its time zone and its SQL mode. */
  readonly sharesSessions: boolean;
}

/** Compares a table as the database describes it with its definition. */
export function verifyTable(
  definition: TableDefinition,
  found: InspectedTable,
  context: VerificationContext,
): readonly SchemaFinding[] {
  const table = definition.path.join('.');
  return flawsOf(definition, found, context).map(({ severity, code, problem, remedy }) => {
    const run = remedy === undefined ? '' : ` Run: ${remedy};`;
    return { severity, code, message: `Table '${table}' in ${context.address} ${problem}.${run}`, remedy };
  });
}

export function columnPairs(
  { columns }: TableDefinition,
  found: Pick<InspectedTable, 'columns'>,
  dialect: SqlDialect,
): readonly ColumnPair[] {
  return columns.map((column) => ({
    column,
    found: found.columns.find((candidate) => isNamed(column.name, candidate, dialect)),
  }));
}

/** The columns of instants that were found. */
export function instantsIn(
  definition: TableDefinition,
  found: Pick<InspectedTable, 'columns'> = { columns: [] },
  dialect: SqlDialect,
): readonly InspectedColumn[] {
  const instants = columnPairs(definition, found, dialect).filter(
    ({ column }) => column.kind.is === 'instant',
  );
  return instants.flatMap((pair) => pair.found ?? []);
}

/** A reliable unique index on exactly these columns, in any order. */
export function uniqueIndexOn(
  columns: readonly string[],
  indexes: readonly InspectedIndex[],
): InspectedIndex | undefined {
  const fold = (names: readonly string[]): string =>
    names
      .map((name) => name.toLowerCase())
      .sort()
      .join();
  return indexes.find((index) => index.isUnique && fold(index.columns) === fold(columns));
}

function flawsOf(
  definition: TableDefinition,
  found: InspectedTable,
  context: VerificationContext,
): TableFlaw[] {
  const { path, indexes, migration } = definition;
  if (found.columns.length === 0)
    return [refusal('missing-table', `is missing, or this database user has no access to it. ${migration}`)];
  const { unsuitable } = found;
  if (unsuitable !== undefined)
    return [
      refusal('unsuitable-table', `${unsuitable}. Create the table with createTables() or the migration`),
    ];
  const { dialect } = context;
  const pairs = columnPairs(definition, found, dialect);
  const columnContext = { ...context, definition, table: quotePath(path, dialect) };
  return [
    ...pairs.flatMap((pair) => verifyColumn(pair, columnContext)),
    ...verifyTimeZones(pairs, found, columnContext),
    ...missingKeys(indexes, found).map((index) => {
      const problem = `has no unique index on (${index.columns.join(', ')}), so two instances could both start the run of the same period`;
      return refusal('runs-not-unique', problem, createIndex(path, index, dialect));
    }),
    ...absentIndexes(indexes, found.indexes).map((index) => {
      const problem = `has no index on (${index.columns.join(', ')}), so some statements read the whole table`;
      return warning('missing-index', problem, createIndex(path, index, dialect));
    }),
    ...unknownColumns(definition, found, dialect),
  ];
}

function missingKeys(indexes: readonly TableIndex[], found: InspectedTable): readonly TableIndex[] {
  return indexes.filter(
    ({ isUnique, columns }) => isUnique && uniqueIndexOn(columns, found.indexes) === undefined,
  );
}

/**
 * The indexes that are for speed alone, and that no present index replaces. An older version of cronlatch did not create
 * all of them.
 */
export function absentIndexes(
  needed: readonly TableIndex[],
  present: readonly InspectedIndex[],
): readonly TableIndex[] {
  const replaces = (index: InspectedIndex, { columns }: TableIndex): boolean =>
    columns.every((column, position) => index.columns[position]?.toLowerCase() === column);
  return needed
    .filter(({ isUnique }) => !isUnique)
    .filter((index) => !present.some((each) => replaces(each, index)));
}

/** Columns that the library's inserts leave out. */
function unknownColumns(
  { columns, row }: TableDefinition,
  found: InspectedTable,
  dialect: SqlDialect,
): TableFlaw[] {
  return found.columns
    .filter((column) => column.isRequired && !columns.some(({ name }) => isNamed(name, column, dialect)))
    .map(({ name }) => {
      const problem = `has an additional column '${name}' that requires a value, so cronlatch cannot insert a ${row}. Give the column a default`;
      return refusal('column-needs-value', problem);
    });
}

function isNamed(name: string, column: InspectedColumn, { inspection }: SqlDialect): boolean {
  return inspection.foldsColumnNames
    ? column.name.toLowerCase() === name.toLowerCase()
    : column.name === name;
}
