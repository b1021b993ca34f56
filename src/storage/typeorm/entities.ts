import { EntitySchema, type ColumnType, type EntitySchemaColumnOptions } from 'typeorm';
import type { SqlDialect } from '../sql/dialects/sql-dialect';
import type { TableColumn } from '../sql/schema/table-definition';
import type { JobTableOptions, LockTableOptions, RunTableOptions } from '../sql/schema/table-options';
import { tableOf } from '../sql/schema/tables';
import { dialectOf, ENTITY_NAMES } from './database';

/**
 * Creates entities for all tables that `createCronlatchMigration()` creates, if TypeORM synchronizes your schema. The
 * library itself does not need them. If the DataSource has a prefix or a naming strategy, initialize it before you pass it
 * to `createJobGuard`: a guard then uses the tables of these entities, unless you name other tables.
 *
 * @param options.type the `type` of the DataSource that you add the entities to
 * @throws InvalidLockConfigurationError for an unsupported type or an invalid identifier
 */
export function createCronlatchEntities(
  options: LockTableOptions & RunTableOptions & JobTableOptions & { type: string },
): EntitySchema[] {
  const dialect = dialectOf(options.type);
  return ENTITY_NAMES.map(([kind, name]) => {
    const definition = tableOf(kind, options);
    const { columns, indexes, primaryKey } = definition;
    const [tableName = '', schema] = [...definition.path].reverse();
    const tableOptions = dialect.columnTypes.tableOptions(definition);
    const propertyOf = (column: string): string =>
      columns.find((each) => each.name === column)?.property ?? column;
    return new EntitySchema({
      name,
      tableName,
      ...(schema !== undefined && { [dialect.name === 'mysql' ? 'database' : 'schema']: schema }),
      ...(/ENGINE/.test(tableOptions) && { engine: 'InnoDB' }),
      ...(/WITHOUT ROWID/.test(tableOptions) && { withoutRowid: true }),
      columns: Object.fromEntries(
        columns.map((column) => [column.property, columnOf(column, primaryKey, dialect)]),
      ),
      indices: indexes.map((index) => ({
        name: index.name,
        columns: index.columns.map(propertyOf),
        unique: index.isUnique,
      })),
    });
  });
}

/** The type of the migration, in the terms of TypeORM. */
function columnOf(
  { name, kind, nullable, default: value }: TableColumn,
  primaryKey: string | undefined,
  { columnTypes }: SqlDialect,
): EntitySchemaColumnOptions {
  const text = columnTypes.type(kind);
  const [, type = '', size] = /^(\w+)(?:\((\d+)\))?/.exec(text) ?? [];
  const [, charset] = /CHARACTER SET (\w+)/.exec(text) ?? [];
  const [, collation] = /COLLATE "?(\w+)/.exec(text) ?? [];
  const isPrimary = kind.is === 'id' || name === primaryKey;
  return {
    name,
    type: type.toLowerCase().replace('serial', 'int') as ColumnType,
    nullable,
    ...(size !== undefined && (kind.is === 'instant' ? { precision: Number(size) } : { length: size })),
    ...(/UNSIGNED/.test(text) && { unsigned: true }),
    ...(charset !== undefined && { charset }),
    ...(collation !== undefined && { collation }),
    ...(isPrimary && { primary: true }),
    ...(kind.is === 'id' && { generated: 'increment' as const }),
    ...(value !== undefined && { default: value }),
  };
}
