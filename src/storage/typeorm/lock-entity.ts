import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions } from 'typeorm';
import type { DialectName } from '../sql/sql-dialect';
import { lockTableOf, type LockTableOptions } from '../sql/schema/lock-table';
import { dialectOf } from './database';

/** A row of the lock table, as far as an application should look at it. */
export interface LockRow {
  name: string;
  lockUntil: unknown;
  lockedAt: unknown;
  lockedBy: string;
  fencingToken: string | number;
}

interface EntityTypes {
  readonly whole: Omit<EntitySchemaOptions<LockRow>, 'name' | 'columns'>;
  readonly text: (length: number) => Omit<EntitySchemaColumnOptions, 'name'>;
  readonly instant: Omit<EntitySchemaColumnOptions, 'name'>;
  readonly token: Omit<EntitySchemaColumnOptions, 'name'>;
}

/** The columns of the migration, in TypeORM's words. */
const ENTITY_TYPES: Readonly<Record<DialectName, (schema: string | undefined) => EntityTypes>> = {
  mysql: (schema) => ({
    whole: { engine: 'InnoDB', ...(schema === undefined ? {} : { database: schema }) },
    text: (length) => ({ type: 'varchar', length, charset: 'utf8mb4', collation: 'utf8mb4_bin' }),
    instant: { type: 'datetime', precision: 6 },
    token: { type: 'bigint', unsigned: true },
  }),
  postgres: (schema) => ({
    whole: schema === undefined ? {} : { schema },
    text: () => ({ type: 'text', collation: 'C' }),
    instant: { type: 'timestamptz' },
    token: { type: 'bigint' },
  }),
  sqlite: () => ({
    whole: { withoutRowid: true },
    text: () => ({ type: 'text' }),
    instant: { type: 'integer' },
    token: { type: 'integer' },
  }),
};

/**
 * The lock table as an entity, for applications that let TypeORM synchronize their schema or want to read the table.
 * The library itself does not need it.
 *
 * @param type the `type` of the DataSource that it is registered with
 */
export function createLockEntity(options: LockTableOptions & { type: string }): EntitySchema<LockRow> {
  const { path, columns, nameLength } = lockTableOf(options);
  const [tableName = '', schema] = [...path].reverse();
  const { whole, text, instant, token } = ENTITY_TYPES[dialectOf(options.type).name](schema);
  return new EntitySchema<LockRow>({
    name: 'CronlatchLock',
    tableName,
    ...whole,
    columns: {
      name: { name: columns.name, primary: true, ...text(nameLength) },
      lockUntil: { name: columns.lockUntil, ...instant },
      lockedAt: { name: columns.lockedAt, ...instant },
      lockedBy: { name: columns.lockedBy, ...text(255) },
      fencingToken: { name: columns.fencingToken, default: 0, ...token },
    },
  });
}
