import { EntitySchema, type EntitySchemaColumnOptions, type EntitySchemaOptions } from 'typeorm';
import {
  definitionsOf,
  type RunColumn,
  type RunColumnKind,
  type RunTableDefinition,
} from '../sql/schema/run-columns';
import { runTablesOf, type RunTableOptions } from '../sql/schema/run-table';
import type { DialectName } from '../sql/sql-dialect';
import { dialectOf } from './database';

/** A row of the ledger, as far as an application should look at it. */
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

/** What a row of the ledger cannot keep: an attempt that failed or was lost, an operator's act. */
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

interface EntityTypes {
  readonly whole: (schema: string | undefined) => { engine?: string; database?: string; schema?: string };
  readonly column: (kind: RunColumnKind) => ColumnType;
}

const BYTES = { charset: 'utf8mb4', collation: 'utf8mb4_bin' } as const;
const NUMBERED = { primary: true, generated: 'increment' } as const;

/** The columns of the migration, in TypeORM's words. */
const ENTITY_TYPES: Readonly<Record<DialectName, EntityTypes>> = {
  mysql: {
    whole: (database) => ({ engine: 'InnoDB', ...(database === undefined ? {} : { database }) }),
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
    whole: (schema) => (schema === undefined ? {} : { schema }),
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
    whole: () => ({}),
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
 * The ledger's tables as entities, for applications that let TypeORM synchronize their schema or want to read the
 * tables. The library itself does not need them.
 *
 * @param type the `type` of the DataSource that they are registered with
 */
export function createLedgerEntities(
  options: RunTableOptions & { type: string },
): [EntitySchema<RunRow>, EntitySchema<RunEventRow>] {
  const types = ENTITY_TYPES[dialectOf(options.type).name];
  const [run, event] = definitionsOf(runTablesOf(options));
  return [entity<RunRow>('CronlatchRun', run, types), entity<RunEventRow>('CronlatchRunEvent', event, types)];
}

function entity<Row>(name: string, definition: RunTableDefinition, types: EntityTypes): EntitySchema<Row> {
  const [tableName = '', schema] = [...definition.path].reverse();
  const columns = definition.columns.map((column) => [propertyOf(column.name), columnOf(column, types)]);
  return new EntitySchema<Row>({
    ...types.whole(schema),
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

function columnOf({ name, kind, nullable, default: value }: RunColumn, types: EntityTypes) {
  return { name, ...types.column(kind), nullable, ...(value === undefined ? {} : { default: value }) };
}

/** `job_name` becomes `jobName`. */
function propertyOf(column: string): string {
  return column.replace(/_(.)/g, (_match, letter: string) => letter.toUpperCase());
}
