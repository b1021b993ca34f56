import type { SqlRow } from '../../statements/statement';
import { keyOn, type TableInspection } from '../../schema/inspected-table';
import type { ColumnKind } from '../../schema/table-definition';
import type { ColumnTypes } from '../sql-dialect';

/** Those that are not text. */
const TYPES: Readonly<Partial<Record<ColumnKind['is'], string>>> = {
  id: 'bigserial PRIMARY KEY',
  count: 'integer',
  integer: 'bigint',
  instant: 'timestamptz',
};

export const columnTypes: ColumnTypes = {
  tableOptions: () => '',
  type: ({ is }) => TYPES[is] ?? 'text COLLATE "C"',
  preciseInstant: ({ type }) => type,
  withoutTimeZone: (table, columns) =>
    `ALTER TABLE ${table} ${columns.map((column) => `ALTER COLUMN ${column} TYPE timestamp`).join(', ')}`,
  alter: (table, column, type) => `ALTER TABLE ${table} ALTER COLUMN ${column} TYPE ${type}`,
  sequenceFix(path, select = 'setval(s.name::regclass, m.id)') {
    const table = path.map((part) => `"${part}"`).join('.');
    const from = `pg_get_serial_sequence('${table}', 'id') s (name), (SELECT max(id)::bigint AS id FROM ${table}) m`;
    return `SELECT ${select} FROM ${from} WHERE m.id > COALESCE(pg_sequence_last_value(s.name::regclass), 0)`;
  },
  createIndex: (table, { name, columns, isUnique }) =>
    `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX IF NOT EXISTS "${name}" ON ${table.map((part) => `"${part}"`).join('.')} (${columns.join(', ')})`,
};

/** For this statement only, restores the first search path of the session. The application may have changed it. */
const FIRST_SEARCH_PATH = `
  SELECT set_config('search_path', concat_ws(', ', NULLIF(reset_val, ''), 'pg_temp'), true) AS search_path
  FROM pg_settings WHERE name = 'search_path'`;

const columns = (number: number): string => `
  SELECT ${number} AS table_number, n.nspname AS found_in,
    a.attname AS name, t.typname AS type, a.atttypmod AS modifier, c.relkind AS kind,
    c.relpersistence AS persistence, COALESCE(l.collisdeterministic, true) AS is_deterministic,
    EXISTS (SELECT FROM pg_index d WHERE d.indrelid = c.oid AND d.indisunique AND NOT d.indimmediate) AS is_deferrable,
    a.attnotnull AND NOT a.atthasdef AND a.attidentity = '' AS is_required,
    (
      SELECT json_agg(json_build_array(i.indexrelid, k.position, k.name, (i.indisunique AND i.indisvalid
        AND i.indimmediate AND i.indpred IS NULL AND i.indcollation[k.position - 1] = k.collation)::int))::text
      FROM pg_index i CROSS JOIN LATERAL (
        SELECT s.position, x.attname AS name, x.attcollation AS collation
        FROM generate_series(1, i.indnkeyatts) AS s (position)
        LEFT JOIN pg_attribute x ON x.attrelid = i.indrelid AND x.attnum = i.indkey[s.position - 1]) k
      WHERE i.indrelid = c.oid) AS indexes
  FROM (${FIRST_SEARCH_PATH}) first
  JOIN pg_class c ON c.oid = to_regclass(:table${number} || left(first.search_path, 0))
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid
  JOIN pg_type t ON t.oid = a.atttypid
  LEFT JOIN pg_collation l ON l.oid = a.attcollation
  WHERE a.attnum > 0 AND NOT a.attisdropped`;

const HOLDS: Readonly<Record<string, readonly ColumnKind['is'][]>> = {
  text: ['text', 'word', 'note', 'document'],
  varchar: ['text', 'word', 'note', 'document'],
  citext: ['text', 'word', 'note', 'document'],
  timestamptz: ['instant'],
  timestamp: ['instant'],
  int8: ['id', 'integer', 'count'],
  numeric: ['id', 'integer', 'count'],
  int4: ['count'],
};

export const inspection: TableInspection = {
  columns,

  parameters: ({ path }) => ({ table: path.map((part) => `"${part}"`).join('.') }),

  table: (row) => ({ unsuitable: unsuitable(row) }),

  holds: (type) => HOLDS[type],

  column({ name, type, modifier: ofType, ...row }, indexes) {
    const modifier = Number(ofType);
    return {
      // The modifier of a varchar includes four bytes of header; -1 means no limit.
      length: type === 'varchar' && modifier > 0 ? modifier - 4 : undefined,
      comparesBytes: type !== 'citext' && row['is_deterministic'] === true,
      isUnicode: true,
      precision: modifier === -1 ? 6 : modifier,
      hasTimeZone: type === 'timestamptz',
      isUnique: keyOn(String(name), indexes) !== undefined,
      isRequired: row['is_required'] === true,
    };
  },

  foldsColumnNames: false,

  // Not now(), the time of the transaction, nor clock_timestamp(), which advances while a statement waits. A column
  // without a time zone holds UTC, as in ShedLock.
  now: ({ type, precision }) => {
    const now = type === 'timestamp' ? `(statement_timestamp() AT TIME ZONE 'UTC')` : 'statement_timestamp()';
    return precision === 6 ? now : `${now}::${type}(${precision})`;
  },
};

const RELATION_KINDS: Readonly<Record<string, string>> = {
  v: 'is a view',
  m: 'is a materialized view',
  f: 'is a foreign table',
};

function unsuitable(row: SqlRow): string | undefined {
  const { kind, persistence, is_deferrable: isDeferrable } = row;
  if (kind !== 'r' && kind !== 'p')
    return `${RELATION_KINDS[String(kind)] ?? 'is a relation of another kind'}, not a table`;
  if (persistence === 'u') return 'is UNLOGGED, so a server crash empties it';
  if (persistence === 't') return 'is temporary, so other connections cannot see it';
  if (isDeferrable === true) return 'has a DEFERRABLE key, which inserts cannot rely on';
  return undefined;
}
