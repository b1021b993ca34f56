import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions } from 'typeorm';
import type { DialectName } from '../sql/dialects/sql-dialect';
import { lockTableDefinition, lockTableOf, type LockTableOptions } from '../sql/schema/lock-table';
import { runTableDefinitions, runTablesOf, type RunTableOptions } from '../sql/schema/run-tables';
import type { ColumnKind, TableColumn, TableDefinition } from '../sql/schema/table-definition';
import { dialectOf } from './database';

/** The columns of the lock table that an application may read. */
export interface LockRow {
  name: string;
  lockUntil: unknown;
  lockedAt: unknown;
  lockedBy: string;
  fencingToken: string | number;
}

/** The columns of the ledger that an application may read. */
export interface RunRow {
  id: string | number;
  jobName: string;
  scope: string;
  periodKey: string;
  periodStart: unknown;
  periodEnd: unknown;
  timeZone: string | null;
  state: string;
  generation: number;
  attempt: number;
  nextAttemptAt: unknown;
  claimedBy: string | null;
  lockId: string | null;
  fencingToken: string | number | null;
  leaseUntil: unknown;
  firstStartedAt: unknown;
  startedAt: unknown;
  finishedAt: unknown;
  reason: string | null;
  result: string | null;
  error: string | null;
  createdAt: unknown;
  updatedAt: unknown;
}

/** The history of a run: failed or lost attempts, and actions of operators. */
export interface RunEventRow {
  id: string | number;
  runId: string | number;
  at: unknown;
  generation: number;
  attempt: number;
  kind: string;
  actor: string;
  fencingToken: string | number | null;
  detail: string | null;
}

type ColumnType = Omit<EntitySchemaColumnOptions, 'name'>;
interface TableType {
  readonly engine?: string;
  readonly database?: string;
  readonly schema?: string;
  readonly withoutRowid?: boolean;
}

interface EntityTypes {
  readonly table: (definition: TableDefinition, schema: string | undefined) => TableType;
  readonly column: (kind: ColumnKind) => ColumnType;
}

const BYTES = { charset: 'utf8mb4', collation: 'utf8mb4_bin' } as const;
const NUMBERED = { primary: true, generated: 'increment' } as const;

/** The migration's types in TypeORM's terms. */
const ENTITY_TYPES: Readonly<Record<DialectName, EntityTypes>> = {
  mysql: {
    table: (_definition, database) => ({ engine: 'InnoDB', ...(database === undefined ? {} : { database }) }),
    column: (kind) => {
      switch (kind.is) {
        case 'id':
          return { type: 'bigint', unsigned: true, ...NUMBERED };
        case 'text':
          return { type: 'varchar', length: kind.length, ...BYTES };
        case 'word':
          return { type: 'varchar', length: kind.length, charset: 'ascii', collation: 'ascii_bin' };
        case 'note':
          return { type: 'text', ...BYTES };
        case 'document':
          return { type: 'mediumtext', ...BYTES };
        case 'count':
          return { type: 'int', unsigned: true };
        case 'integer':
          return { type: 'bigint', unsigned: true };
        case 'instant':
          return { type: 'datetime', precision: 6 };
      }
    },
  },
  postgres: {
    table: (_definition, schema) => (schema === undefined ? {} : { schema }),
    column: (kind) => {
      switch (kind.is) {
        case 'id':
          return { type: 'bigint', ...NUMBERED };
        case 'text':
        case 'word':
        case 'note':
        case 'document':
          return { type: 'text', collation: 'C' };
        case 'count':
          return { type: 'integer' };
        case 'integer':
          return { type: 'bigint' };
        case 'instant':
          return { type: 'timestamptz' };
      }
    },
  },
  sqlite: {
    table: ({ primaryKey }) => (primaryKey === undefined ? {} : { withoutRowid: true }),
    column: (kind) => {
      switch (kind.is) {
        case 'id':
          return { type: 'integer', ...NUMBERED };
        case 'text':
        case 'word':
        case 'note':
        case 'document':
          return { type: 'text' };
        case 'count':
        case 'integer':
        case 'instant':
          return { type: 'integer' };
      }
    },
  },
};

/**
 * Creates an entity for the lock table, if TypeORM synchronizes your schema or you want to read the table. The library
 * itself does not need it.
 *
 * @param options.type the `type` of the DataSource that you add the entity to
 * @throws InvalidLockConfigurationError for an unsupported type or an invalid identifier
 */
export function createLockEntity(options: LockTableOptions & { type: string }): EntitySchema<LockRow> {
  return entity<LockRow>('CronlatchLock', lockTableDefinition(lockTableOf(options)), options.type);
}

/**
 * Creates entities for the ledger's tables, if TypeORM synchronizes your schema or you want to read the tables. The
 * library itself does not need them.
 *
 * @param options.type the `type` of the DataSource that you add the entities to
 * @throws InvalidLockConfigurationError for an unsupported type or an invalid identifier
 */
export function createLedgerEntities(
  options: RunTableOptions & { type: string },
): [EntitySchema<RunRow>, EntitySchema<RunEventRow>] {
  const [run, event] = runTableDefinitions(runTablesOf(options));
  return [
    entity<RunRow>('CronlatchRun', run, options.type),
    entity<RunEventRow>('CronlatchRunEvent', event, options.type),
  ];
}

function entity<Row>(name: string, definition: TableDefinition, type: string): EntitySchema<Row> {
  const types = ENTITY_TYPES[dialectOf(type).name];
  const [tableName = '', schema] = [...definition.path].reverse();
  const propertyOf = (name: string): string =>
    definition.columns.find((column) => column.name === name)?.property ?? name;
  const columns = definition.columns.map((column) => [column.property, columnOf(column, definition, types)]);
  return new EntitySchema<Row>({
    ...types.table(definition, schema),
    name,
    tableName,
    columns: Object.fromEntries(columns) as EntitySchemaOptions<Row>['columns'],
    indices: definition.indexes.map((index) => ({
      name: index.name,
      columns: index.columns.map(propertyOf),
      unique: index.isUnique,
    })),
  });
}

function columnOf(
  { name, kind, nullable, default: value }: TableColumn,
  { primaryKey }: TableDefinition,
  types: EntityTypes,
): EntitySchemaColumnOptions {
  return {
    name,
    ...types.column(kind),
    nullable,
    ...(name === primaryKey ? { primary: true } : {}),
    ...(value === undefined ? {} : { default: value }),
  };
}
