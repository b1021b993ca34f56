import type { InspectedColumn, InspectedIndex, InspectedTable } from './lock-table-shape';
import { createIndex } from './create-run-tables';
import { observeRunColumn } from './observe-run-column';
import type { RunTableDefinition } from './run-columns';
import { refusal, type Observation, type SchemaFinding } from './schema-finding';
import type { SqlDialect } from '../sql-dialect';
import { columnNamed, findingsOf, observeFurtherColumns, observeTable } from './table-observations';

export interface RunVerificationContext {
  readonly dialect: SqlDialect;
  /** Names the database, without credentials. */
  readonly address: string;
  /** What to do where the table is missing. */
  readonly migration: string;
}

/** What a user should know of one of the ledger's tables as the database describes it. */
export function verifyRunTable(
  definition: RunTableDefinition,
  inspected: InspectedTable & { readonly indexes: readonly InspectedIndex[] },
  context: RunVerificationContext,
): readonly SchemaFinding[] {
  return findingsOf(observe(definition, inspected, context), definition.path, context.address);
}

/** Those of the definition that hold instants. */
export function instantsOf(
  { columns }: RunTableDefinition,
  inspected: InspectedTable,
  dialect: SqlDialect,
): readonly InspectedColumn[] {
  return columns
    .filter(({ kind }) => kind.is === 'instant')
    .map(({ name }) => columnNamed(name, inspected.columns, dialect))
    .filter((column) => column !== undefined);
}

function observe(
  definition: RunTableDefinition,
  inspected: InspectedTable & { readonly indexes: readonly InspectedIndex[] },
  { dialect, migration }: RunVerificationContext,
): Observation[] {
  const observations = observeTable(inspected, migration);
  if (observations.length > 0) return observations;
  const { path, columns } = definition;
  const context = { dialect, table: path.map(dialect.quote).join('.') };
  const names = columns.map(({ name }) => name);
  return [
    ...columns.flatMap((column) =>
      observeRunColumn(column, columnNamed(column.name, inspected.columns, dialect), context),
    ),
    ...observeUniqueIndexes(definition, inspected.indexes, dialect),
    ...observeFurtherColumns(inspected.columns, names, 'run', dialect),
  ];
}

/** One that can be relied upon, in whatever order it has the columns. */
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

/** Without its key, two instances could both insert a run. The other indexes are for speed alone. */
function observeUniqueIndexes(
  { path, indexes }: RunTableDefinition,
  found: readonly InspectedIndex[],
  dialect: SqlDialect,
): Observation[] {
  return indexes
    .filter(({ isUnique, columns }) => isUnique && uniqueIndexOn(columns, found) === undefined)
    .map((index) =>
      refusal(
        'runs-not-unique',
        `has no unique index on (${index.columns.join(', ')}): two instances could both start a run of one period`,
        createIndex(path, index, dialect),
      ),
    );
}
