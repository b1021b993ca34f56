import type { ColumnUse } from '../../lock-table-shape';
import type { LockTableInspection } from '../../sql-dialect';

/** MariaDB opens every table of the server for a view that is not told which one, so each of them is. */
const COLUMNS = (schema: string): string => {
  const here = (view: string): string => `${view}.TABLE_SCHEMA = ${schema} AND ${view}.TABLE_NAME = :table`;
  return `
  SELECT c.COLUMN_NAME AS name, c.DATA_TYPE AS type, c.CHARACTER_MAXIMUM_LENGTH AS length,
    c.DATETIME_PRECISION AS digits, c.COLLATION_NAME AS collation_name, c.CHARACTER_SET_NAME AS charset_name,
    c.IS_NULLABLE AS is_nullable, c.COLUMN_DEFAULT AS default_value, c.EXTRA AS extra,
    t.TABLE_TYPE AS kind, t.ENGINE AS engine, e.TRANSACTIONS AS transactions,
    EXISTS (
      SELECT 1 FROM information_schema.STATISTICS s
      WHERE ${here('s')} AND s.COLUMN_NAME = c.COLUMN_NAME AND s.NON_UNIQUE = 0 AND s.SUB_PART IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM information_schema.STATISTICS o
          WHERE ${here('o')} AND o.INDEX_NAME = s.INDEX_NAME AND o.SEQ_IN_INDEX = 2)) AS is_unique
  FROM information_schema.COLUMNS c
  JOIN information_schema.TABLES t ON ${here('t')}
  LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
  WHERE ${here('c')}`;
};

const HOLDS: Readonly<Record<string, readonly ColumnUse[]>> = {
  varchar: ['text', 'document'],
  ...{ text: ['document'], mediumtext: ['document'], longtext: ['document'] },
  datetime: ['instant'],
  timestamp: ['instant'],
  bigint: ['integer', 'count'],
  int: ['count'],
};

export const inspection: LockTableInspection = {
  statement: ([first = '', second]) =>
    second === undefined
      ? { text: COLUMNS('DATABASE()'), parameters: { table: first } }
      : { text: COLUMNS(':schema'), parameters: { schema: first, table: second } },

  read: (rows) => ({
    unsuitable: rows[0] && unsuitable(rows[0]),
    columns: rows.map((row) => {
      const type = String(row['type']);
      const collation = String(row['collation_name']);
      const extra = String(row['extra']);
      return {
        name: String(row['name']),
        type,
        holds: HOLDS[type] ?? [],
        length: row['length'] === null ? undefined : Number(row['length']),
        comparesBytes: collation.endsWith('_bin'),
        isUnicode: row['charset_name'] === 'utf8mb4',
        precision: row['digits'] === null ? undefined : Number(row['digits']),
        isInSessionZone: type === 'timestamp',
        changesByItself: /on update/i.test(extra),
        isUnique: Number(row['is_unique']) === 1,
        isRequired:
          row['is_nullable'] === 'NO' &&
          row['default_value'] === null &&
          !/auto_increment|generated/i.test(extra),
      };
    }),
  }),

  foldsColumnNames: true,

  // With more digits than the column has, MySQL would round up: a lock just released would be held for up to half a step.
  now: ({ precision }) => `UTC_TIMESTAMP(${precision})`,
};

function unsuitable({ kind, engine, transactions }: Readonly<Record<string, unknown>>): string | undefined {
  if (kind !== 'BASE TABLE') return `is a ${String(kind).toLowerCase()}, not a table`;
  if (transactions !== 'YES')
    return `is kept by ${String(engine)}, which has no transactions: a crash of the server could damage it`;
  return undefined;
}
