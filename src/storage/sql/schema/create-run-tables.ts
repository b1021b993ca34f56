import { definitionsOf, type RunColumn, type RunIndex, type RunTableDefinition } from './run-columns';
import type { RunTables } from './run-table';
import type { SqlDialect } from '../sql-dialect';

/** The statements that make the ledger's tables; each does nothing where there is one. */
export function createRunTables(tables: RunTables, dialect: SqlDialect): readonly string[] {
  return definitionsOf(tables).flatMap((definition) => createTable(definition, dialect));
}

function createTable({ path, columns, indexes }: RunTableDefinition, dialect: SqlDialect): string[] {
  const { inlineIndex, tableOptions } = dialect.runColumns;
  const lines = [
    ...columns.map((column) => columnLine(column, dialect)),
    ...(inlineIndex ? indexes.map(inlineIndex) : []),
  ];
  const table = path.map(dialect.quote).join('.');
  return [
    `CREATE TABLE IF NOT EXISTS ${table} (\n  ${lines.join(',\n  ')}\n)${tableOptions}`,
    ...(inlineIndex ? [] : indexes.map((index) => createIndex(path, index, dialect))),
  ];
}

/** Also what mends a table that lacks one. */
export function createIndex(path: readonly string[], index: RunIndex, dialect: SqlDialect): string {
  const { name, columns, isUnique } = index;
  const unique = isUnique ? 'UNIQUE ' : '';
  return dialect.runColumns.createIndex({ path, name, unique, columns: columns.join(', ') });
}

// Quoted, because TypeORM looks for the quotes in SQLite's own record of the table.
function columnLine({ name, kind, nullable, default: value }: RunColumn, dialect: SqlDialect): string {
  const type = `${dialect.quote(name)} ${dialect.runColumns.type(kind)}`;
  if (kind.is === 'id') return type;
  const ifLeftOut = value === undefined ? '' : ` DEFAULT ${value === '' ? "''" : value}`;
  return `${type} ${nullable ? '' : 'NOT '}NULL${ifLeftOut}`;
}
