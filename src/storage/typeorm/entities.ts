import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions } from 'typeorm';
import type { DialectName } from '../sql/dialects/sql-dialect';
import type { ColumnKind, TableColumn, TableDefinition } from '../sql/schema/table-definition';
import {
  tableOf,
  type JobTableOptions,
  type LockTableOptions,
  type RunTableOptions,
  type TableNames,
} from '../sql/schema/tables';
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

interface EntityTypes {
  readonly table: (
    definition: TableDefinition,
    schema: string | undefined,
  ) => {
    readonly engine?: string;
    readonly database?: string;
    readonly schema?: string;
    readonly withoutRowid?: boolean;
  };
  readonly columns: Readonly<Record<ColumnKind['is'], Omit<EntitySchemaColumnOptions, 'name'>>>;
}

const BYTES = { charset: 'utf8mb4', collation: 'utf8mb4_bin' } as const;
const C_TEXT = { type: 'text', collation: 'C' } as const;
const TEXT = { type: 'text' } as const;
const INTEGER = { type: 'integer' } as const;
const NUMBERED = { primary: true, generated: 'increment' } as const;

/** The migration's types in TypeORM's terms. */
const ENTITY_TYPES: Readonly<Record<DialectName, EntityTypes>> = {
  mysql: {
    table: (_definition, database) => ({ engine: 'InnoDB', ...(database === undefined ? {} : { database }) }),
    columns: {
      id: { type: 'bigint', unsigned: true, ...NUMBERED },
      text: { type: 'varchar', ...BYTES },
      word: { type: 'varchar', charset: 'ascii', collation: 'ascii_bin' },
      note: { type: 'text', ...BYTES },
      document: { type: 'mediumtext', ...BYTES },
      count: { type: 'int', unsigned: true },
      integer: { type: 'bigint', unsigned: true },
      instant: { type: 'datetime', precision: 6 },
    },
  },
  postgres: {
    table: (_definition, schema) => (schema === undefined ? {} : { schema }),
    columns: {
      id: { type: 'bigint', ...NUMBERED },
      text: C_TEXT,
      word: C_TEXT,
      note: C_TEXT,
      document: C_TEXT,
      count: INTEGER,
      integer: { type: 'bigint' },
      instant: { type: 'timestamptz' },
    },
  },
  sqlite: {
    table: ({ primaryKey }) => (primaryKey === undefined ? {} : { withoutRowid: true }),
    columns: {
      id: { type: 'integer', ...NUMBERED },
      text: TEXT,
      word: TEXT,
      note: TEXT,
      document: TEXT,
      count: INTEGER,
      integer: INTEGER,
      instant: INTEGER,
    },
  },
};

const ENTITY_NAMES = {
  lock: 'CronlatchLock',
  run: 'CronlatchRun',
  event: 'CronlatchRunEvent',
  job: 'CronlatchJob',
  request: 'CronlatchRunRequest',
  log: 'CronlatchRunLog',
} as const;

type EntityKind = keyof typeof ENTITY_NAMES;

/**
 * Creates entities for all tables that `createCronlatchMigration()` creates, if TypeORM synchronizes your schema. The
 * library itself does not need them.
 *
 * @param options.type the `type` of the DataSource that you add the entities to
 * @throws InvalidLockConfigurationError for an unsupported type or an invalid identifier
 */
export function createCronlatchEntities(
  options: LockTableOptions & RunTableOptions & JobTableOptions & { type: string },
): EntitySchema<unknown>[] {
  return (Object.keys(ENTITY_NAMES) as EntityKind[]).map((kind) => entity(kind, options));
}

/**
 * Creates an entity for the lock table, if you want to read it.
 *
 * @param options.type the `type` of the DataSource that you add the entity to
 * @throws InvalidLockConfigurationError for an unsupported type or an invalid identifier
 */
export function createLockEntity(options: LockTableOptions & { type: string }): EntitySchema<LockRow> {
  return entity('lock', options);
}

/**
 * Creates entities for the ledger's tables, if you want to read them.
 *
 * @param options.type the `type` of the DataSource that you add the entities to
 * @throws InvalidLockConfigurationError for an unsupported type or an invalid identifier
 */
export function createLedgerEntities(
  options: RunTableOptions & { type: string },
): [EntitySchema<RunRow>, EntitySchema<RunEventRow>] {
  return [entity('run', options), entity('event', options)];
}

function entity<Row>(kind: EntityKind, options: TableNames & { type: string }): EntitySchema<Row> {
  const definition = tableOf(kind, options);
  const types = ENTITY_TYPES[dialectOf(options.type).name];
  const [tableName = '', schema] = [...definition.path].reverse();
  const propertyOf = (name: string): string =>
    definition.columns.find((column) => column.name === name)?.property ?? name;
  const columns = definition.columns.map((column) => [column.property, columnOf(column, definition, types)]);
  return new EntitySchema<Row>({
    ...types.table(definition, schema),
    name: ENTITY_NAMES[kind],
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
  { columns }: EntityTypes,
): EntitySchemaColumnOptions {
  const type = columns[kind.is];
  return {
    name,
    ...type,
    ...('length' in kind && type.type === 'varchar' ? { length: kind.length } : {}),
    nullable,
    ...(name === primaryKey ? { primary: true } : {}),
    ...(value === undefined ? {} : { default: value }),
  };
}
