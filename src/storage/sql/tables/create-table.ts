import { quotePath, type SqlDialect } from '../dialects/sql-dialect';
import type { TableColumn, TableDefinition } from '../schema/table-definition';

/** The statements that create a table; each does nothing if it exists already. */
export function createTable(definition: TableDefinition, dialect: SqlDialect): readonly string[] {
  const { path, columns, primaryKey, indexes } = definition;
  const { inlineIndex, createIndex, tableOptions } = dialect.columnTypes;
  const lines = [
    ...columns.map((column) => columnLine(column, dialect)),
    ...(primaryKey === undefined ? [] : [`PRIMARY KEY (${dialect.quote(primaryKey)})`]),
    ...(inlineIndex ? indexes.map(inlineIndex) : []),
  ];
  return [
    `CREATE TABLE IF NOT EXISTS ${quotePath(path, dialect)} (\n  ${lines.join(',\n  ')}\n)${tableOptions(definition)}`,
    ...(inlineIndex ? [] : indexes.map((index) => createIndex(path, index))),
  ];
}

/** Also the fix for a table that lacks the column. TypeORM expects the quotes in SQLite's record of the table. */
export function columnLine(
  { name, kind, nullable, default: value }: TableColumn,
  dialect: SqlDialect,
): string {
  const type = `${dialect.quote(name)} ${dialect.columnTypes.type(kind)}`;
  if (kind.is === 'id') return type;
  const ifLeftOut = value === undefined ? '' : ` DEFAULT ${value === '' ? "''" : value}`;
  return `${type} ${nullable ? '' : 'NOT '}NULL${ifLeftOut}`;
}
