import { NamedStatement, type Parameters, type SqlRow, type SqlStatement } from '../statements/statement';
import type { ColumnKind, TableDefinition, TableIndex } from './table-definition';

/** A table as the database describes it, in words that all dialects share. */
export interface InspectedTable {
  /** Where the table was found. `undefined` if there is no table. */
  readonly schema: string | undefined;
  /** Whether sessions that set no time zone are in UTC. It matters for columns that are read in that zone. */
  readonly isServerInUtc?: boolean;
  /** A session like this one cannot write, because its isolation level and the server's binary log do not fit. */
  readonly refusesReadCommitted?: boolean;
  /** Why a relation of this kind cannot keep rows, regardless of its columns. */
  readonly unsuitable?: string | undefined;
  readonly columns: readonly InspectedColumn[];
  /** One counts as unique only if it covers all rows and whole columns, and compares them byte for byte. */
  readonly indexes: readonly TableIndex[];
}

export interface InspectedColumn {
  readonly name: string;
  /** The database's name for the type. */
  readonly type: string;
  /** The kinds of columns that may have this type. */
  readonly holds: readonly ColumnKind['is'][];
  /** For text: the most characters, if limited. */
  readonly length?: number | undefined;
  /** For text: two values are equal only if their bytes are. */
  readonly comparesBytes?: boolean;
  /** For text: it can store every character. */
  readonly isUnicode?: boolean;
  /** For instants: the fractional digits of the second, if limited. */
  readonly precision?: number | undefined;
  /** For instants: the type has a time zone. Compared with a type that has none, the session's zone decides. */
  readonly hasTimeZone?: boolean;
  /** For instants: written and read in the session's time zone. */
  readonly isInSessionZone?: boolean;
  /** The database generates the next number when a row is inserted. */
  readonly isGenerated?: boolean;
  /** Every update of the row changes it. */
  readonly changesByItself?: boolean;
  /** A unique index on this column alone keeps two rows from having the same value. */
  readonly isUnique: boolean;
  /** Its name, if a statement can name it. */
  readonly uniqueIndex?: string | undefined;
  /** An insert must give it a value. */
  readonly isRequired: boolean;
}

export interface TableLocation {
  /** One part, or schema and table. */
  readonly path: readonly string[];
  /** The database of new connections. A session may have changed to another one since. */
  readonly database: string | undefined;
}

export interface TableInspection {
  /**
   * Describes every column of the table with this number, each with the JSON of all indexes: see `readTable`. No row if
   * there is no table. The names of its parameters end in the number.
   */
  readonly columns: (number: number) => string;
  readonly before?: string;
  readonly parameters: (location: TableLocation) => Parameters;
  /** What any row shows about the table itself. */
  readonly table: (row: SqlRow) => Omit<InspectedTable, 'schema' | 'columns' | 'indexes'>;
  readonly holds: (type: string) => InspectedColumn['holds'] | undefined;
  readonly column: (
    row: SqlRow,
    indexes: readonly TableIndex[],
  ) => Omit<InspectedColumn, 'name' | 'type' | 'holds'>;
  /** `NAME` and `name` are the same column. */
  readonly foldsColumnNames: boolean;
  /** An expression of the current time in UTC, with the type and the digits of the column. */
  readonly now: (column: Pick<InspectedColumn, 'type' | 'precision'>) => string;
}

/** The table with the schema in which it was found, so that no session resolves its name to another table. */
export function asFound(table: TableDefinition, { schema }: InspectedTable): TableDefinition {
  return schema === undefined ? table : { ...table, path: [schema, ...table.path.slice(-1)] };
}

/** The instant with the fewest digits. The database's current time is taken with no more digits than that. */
export function leastPrecise(instants: readonly InspectedColumn[]): InspectedColumn | undefined {
  const digits = ({ precision = Infinity }: InspectedColumn): number => precision;
  return instants.toSorted((a, b) => digits(a) - digits(b))[0];
}

export function keyOn(column: string, indexes: readonly TableIndex[]): TableIndex | undefined {
  return indexes.find(({ isUnique, columns }) => isUnique && columns.length === 1 && columns[0] === column);
}

/** Each column of the definition, and the column of that name in the table. */
export function columnPairs(
  { columns }: TableDefinition,
  found: Pick<InspectedTable, 'columns'>,
  { foldsColumnNames }: TableInspection,
) {
  const fold = (name: string): string => (foldsColumnNames ? name.toLowerCase() : name);
  return columns.map((column) => ({
    column,
    found: found.columns.find(({ name }) => fold(name) === fold(column.name)),
  }));
}

export function instantsIn(
  definition: TableDefinition,
  found: Pick<InspectedTable, 'columns'> = { columns: [] },
  inspection: TableInspection,
): readonly InspectedColumn[] {
  const pairs = columnPairs(definition, found, inspection);
  return pairs.flatMap((pair) => (pair.column.kind.is === 'instant' ? (pair.found ?? []) : []));
}

/** A reliable unique index on exactly these columns, in any order. */
export function uniqueIndexOn(
  columns: readonly string[],
  indexes: readonly TableIndex[],
): TableIndex | undefined {
  const fold = (names: readonly string[]): string =>
    names
      .map((name) => name.toLowerCase())
      .sort()
      .join();
  return indexes.find((index) => index.isUnique && fold(index.columns) === fold(columns));
}

/** One statement describes all tables, so it is one round trip. It is sent rarely, so it is not prepared. */
export function inspectionOf(
  tables: readonly TableLocation[],
  {
    inspection,
    placeholder,
  }: { readonly inspection: TableInspection; readonly placeholder: (position: number) => string },
): SqlStatement {
  const { before = '' } = inspection;
  const text = before + tables.map((_, number) => inspection.columns(number)).join('\n  UNION ALL');
  return { ...new NamedStatement(text, placeholder).bindMembers(tables.map(inspection.parameters)), id: '' };
}

export function readTable(
  rows: readonly SqlRow[],
  number: number,
  inspection: TableInspection,
): InspectedTable {
  const own = rows.filter((row) => Number(row['table_number']) === number);
  const [first] = own;
  const indexes = indexesIn(first?.['indexes']);
  const columns = own.map((row) => {
    const [name, type] = [String(row['name']), String(row['type'])];
    return { name, type, holds: inspection.holds(type) ?? [], ...inspection.column(row, indexes) };
  });
  return {
    schema: first && String(first['found_in']),
    ...(first && inspection.table(first)),
    columns,
    indexes,
  };
}

/** @param json the parts of all indexes, in any order. A part that is an expression has no column. */
function indexesIn(json: unknown): readonly TableIndex[] {
  const parts = JSON.parse(typeof json === 'string' ? json : '[]') as readonly [
    index: string | number,
    position: number,
    column: string | null,
    isUnique: number | boolean,
  ][];
  const names = new Set(parts.map(([index]) => index));
  return [...names].sort().map((name) => {
    const own = parts.filter(([index]) => index === name).sort(([, a], [, b]) => a - b);
    return {
      name: String(name),
      columns: own.map(([, , column]) => String(column)),
      isUnique: own.every(([, , , isUnique]) => Boolean(isUnique)),
    };
  });
}
