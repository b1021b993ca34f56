import { EntitySchema } from 'typeorm';
import { sqlite } from '../sql/dialects/sqlite';
import { lockTableOf, type LockTableOptions } from '../sql/lock-table';
import { dialectOf } from './database';

/** A row of the lock table, as far as an application should look at it. */
export interface LockRow {
  name: string;
  lockUntil: unknown;
  lockedAt: unknown;
  lockedBy: string;
  fencingToken: string | number;
}

/**
 * The lock table as an entity, for applications that let TypeORM synchronize their schema or want to read the table.
 * The library itself does not need it.
 *
 * @param type the `type` of the DataSource that it is registered with
 */
export function createLockEntity(options: LockTableOptions & { type: string }): EntitySchema<LockRow> {
  const { path, columns, nameLength } = lockTableOf(options);
  const [tableName = '', schema] = [...path].reverse();
  const isSqlite = dialectOf(options.type) === sqlite;
  const text = (length: number) =>
    isSqlite
      ? { type: 'text' as const }
      : { type: 'varchar' as const, length, charset: 'utf8mb4', collation: 'utf8mb4_bin' };
  const instant = isSqlite ? { type: 'integer' as const } : { type: 'datetime' as const, precision: 6 };
  const token = isSqlite ? { type: 'integer' as const } : { type: 'bigint' as const, unsigned: true };
  return new EntitySchema<LockRow>({
    name: 'CronlatchLock',
    tableName,
    ...(schema === undefined ? {} : { database: schema }),
    ...(isSqlite ? { withoutRowid: true } : { engine: 'InnoDB' }),
    columns: {
      name: { name: columns.name, primary: true, ...text(nameLength) },
      lockUntil: { name: columns.lockUntil, ...instant },
      lockedAt: { name: columns.lockedAt, ...instant },
      lockedBy: { name: columns.lockedBy, ...text(255) },
      fencingToken: { name: columns.fencingToken, default: 0, ...token },
    },
  });
}
