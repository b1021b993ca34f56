import type { SqlRow } from '../../statements/statement';
import { keyOn, type TableInspection } from '../../schema/inspected-table';
import type { ColumnKind } from '../../schema/table-definition';
import type { ColumnTypes } from '../sql-dialect';

const TEXT = 'CHARACTER SET utf8mb4 COLLATE utf8mb4_bin';

const TYPES: Readonly<Record<ColumnKind['is'], (length: number) => string>> = {
  id: () => 'BIGINT UNSIGNED NOT NULL AUTO_INCREMENT PRIMARY KEY',
  text: (length) => `VARCHAR(${length}) ${TEXT}`,
  word: (length) => `VARCHAR(${length}) CHARACTER SET ascii COLLATE ascii_bin`,
  note: () => `TEXT ${TEXT}`,
  document: () => `MEDIUMTEXT ${TEXT}`,
  count: () => 'INT UNSIGNED',
  integer: () => 'BIGINT UNSIGNED',
  // It holds UTC. TIMESTAMP is read in the session's time zone, and cannot represent one hour per year.
  instant: () => 'DATETIME(6)',
};

export const columnTypes: ColumnTypes = {
  tableOptions: () => ' ENGINE = InnoDB',
  type: (kind) => TYPES[kind.is]('length' in kind ? kind.length : 0),
  // Without a default, MariaDB adds ON UPDATE to a TIMESTAMP.
  preciseInstant: ({ type }) =>
    type === 'timestamp' ? 'TIMESTAMP(6) DEFAULT CURRENT_TIMESTAMP(6)' : 'DATETIME(6)',
  withoutTimeZone: (table, columns) =>
    `ALTER TABLE ${table} ${columns.map((column) => `MODIFY ${column} DATETIME(6) NOT NULL`).join(', ')}`,
  alter: (table, column, type, nullable) =>
    `ALTER TABLE ${table} MODIFY ${column} ${type} ${nullable ? '' : 'NOT '}NULL`,
  // MySQL has no CREATE INDEX IF NOT EXISTS.
  inlineIndex: ({ name, columns, isUnique }) =>
    `${isUnique ? 'UNIQUE ' : ''}KEY \`${name}\` (${columns.join(', ')})`,
  createIndex: (table, { name, columns, isUnique }) =>
    `CREATE ${isUnique ? 'UNIQUE ' : ''}INDEX \`${name}\` ON ${table.map((part) => `\`${part}\``).join('.')} (${columns.join(', ')})`,
};

/** InnoDB then refuses to write rows. A lookup, because a server without one of these variables would refuse its @@name. */
const LOGS_STATEMENTS = `@@log_bin AND 2 = (SELECT COUNT(DISTINCT v.VARIABLE_VALUE)
      FROM /*!80000 performance_schema.session_variables */ /*M! information_schema.SESSION_VARIABLES */ v
      WHERE (v.VARIABLE_NAME = 'binlog_format' AND v.VARIABLE_VALUE = 'STATEMENT')
        OR (v.VARIABLE_NAME IN ('transaction_isolation', 'tx_isolation') AND v.VARIABLE_VALUE LIKE 'READ-%'))`;

/** Checks a date in winter and one in summer. It also works for the zone 'SYSTEM'. */
const IS_SERVER_IN_UTC = ['2026-01-15', '2026-07-15']
  .map((date) => `CONVERT_TZ('${date}', '+00:00', @@GLOBAL.time_zone) = '${date}'`)
  .join(' AND ');

/** Each view needs this condition, because without it MariaDB opens every table of the server. */
const here = (view: string, number: number): string =>
  `${view}.TABLE_SCHEMA = :schema${number} AND ${view}.TABLE_NAME = :table${number}`;

const columns = (number: number): string => `
  SELECT ${number} AS table_number, c.TABLE_SCHEMA AS found_in,
    ${IS_SERVER_IN_UTC} AS is_server_in_utc,
    c.COLUMN_NAME AS name, c.DATA_TYPE AS type, c.CHARACTER_MAXIMUM_LENGTH AS length,
    c.DATETIME_PRECISION AS digits, c.COLLATION_NAME AS collation_name, c.CHARACTER_SET_NAME AS charset_name,
    c.IS_NULLABLE AS is_nullable, c.COLUMN_DEFAULT AS default_value, c.EXTRA AS extra,
    ${LOGS_STATEMENTS} AS logs_statements, t.TABLE_TYPE AS kind, t.ENGINE AS engine, e.TRANSACTIONS AS transactions,
    (
      SELECT CAST(JSON_ARRAYAGG(JSON_ARRAY(
        i.INDEX_NAME, i.SEQ_IN_INDEX, i.COLUMN_NAME, i.NON_UNIQUE = 0 AND i.SUB_PART IS NULL)) AS CHAR)
      FROM information_schema.STATISTICS i WHERE ${here('i', number)}) AS indexes
  FROM information_schema.COLUMNS c
  JOIN information_schema.TABLES t ON ${here('t', number)}
  LEFT JOIN information_schema.ENGINES e ON e.ENGINE = t.ENGINE
  WHERE ${here('c', number)}`;

const HOLDS: Readonly<Record<string, readonly ColumnKind['is'][]>> = {
  varchar: ['text', 'word', 'note', 'document'],
  text: ['note', 'document'],
  mediumtext: ['note', 'document'],
  longtext: ['note', 'document'],
  datetime: ['instant'],
  timestamp: ['instant'],
  bigint: ['id', 'integer', 'count'],
  int: ['count'],
};

export const inspection: TableInspection = {
  columns,

  // MariaDB cuts the answers of JSON_ARRAYAGG, and the application may have set a lower limit.
  before: '/*M! SET STATEMENT group_concat_max_len = 1048576 FOR */ ',

  // Never uses DATABASE(), because the session may have changed it.
  parameters({ path, database = '' }) {
    const [table = '', schema = database] = [...path].reverse();
    return { schema, table };
  },

  table: (row) => ({
    refusesReadCommitted: Number(row['logs_statements']) === 1,
    isServerInUtc: Number(row['is_server_in_utc']) === 1,
    unsuitable: unsuitable(row),
  }),

  holds: (type) => HOLDS[type],

  column(row, indexes) {
    const key = keyOn(String(row['name']), indexes);
    const extra = String(row['extra']);
    return {
      length: row['length'] === null ? undefined : Number(row['length']),
      comparesBytes: String(row['collation_name']).endsWith('_bin'),
      isUnicode: row['charset_name'] === 'utf8mb4',
      precision: row['digits'] === null ? undefined : Number(row['digits']),
      isInSessionZone: row['type'] === 'timestamp',
      isGenerated: /auto_increment/i.test(extra),
      changesByItself: /on update/i.test(extra),
      isUnique: key !== undefined,
      uniqueIndex: key?.name,
      isRequired:
        row['is_nullable'] === 'NO' &&
        row['default_value'] === null &&
        !/auto_increment|generated/i.test(extra),
    };
  },

  foldsColumnNames: true,

  // With more digits than the column has, MySQL would round up, and a released lock could stay held for half a step.
  now: ({ precision }) => `UTC_TIMESTAMP(${precision})`,
};

function unsuitable({ kind, engine, transactions }: SqlRow): string | undefined {
  if (kind !== 'BASE TABLE') return `is a ${String(kind).toLowerCase()}, not a table`;
  if (transactions !== 'YES')
    return `uses the engine ${String(engine)}, which has no transactions, so a server crash could damage it`;
  return undefined;
}
