import { NEVER_SENT, type DriverError, type SqlFailureKind } from '../statements/sql-failure';
import type { SqlDialect } from './sql-dialect';
import { columnTypes, inspection } from './mysql/tables';
import { groupStatements, lockTexts } from './mysql/lock-texts';
import { runFragments } from './mysql/run-fragments';

/** MySQL 8 and later, and MariaDB 10.6 and later. */
export const mysql: SqlDialect = {
  name: 'mysql',
  label: 'MySQL',
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  placeholder: () => '?',
  columnTypes,
  inspection,
  lockTexts,
  groupStatements,
  runFragments,
  // The driver counts affectedRows, never changedRows. A plain INSERT of an existing key fails instead of counting 0 rows.
  returnsRows: false,
  refusalOf: (result) => (Number(result.insertId) > 0 ? 'held' : 'missing'),
  failureOf,
  refusesPreparing: ({ errno }) => errno !== undefined && PREPARING.has(errno),
};

/**
 * After each the statement is undone. 3101: Group Replication rejected the whole transaction. 3781, 3797 and 3798: it
 * did not begin, because the server waited in vain for what others have committed. Galera reports 1205 for that.
 */
const CONTENTION = new Set([1213, 1205, 3572, 1020, 3101, 3781, 3797, 3798]);
const NOT_THE_PRIMARY = new Set([1290, 1836, 1792]);
const WRONG_SHAPE = new Set([1054, 1176, 1406, 1364]);
/**
 * The server ended the statement or the connection while it ran, or COMMIT failed midway (1180). Proxies and servers
 * that use MySQL's protocol send 1105 for any other failure, and TiDB sends 8501.
 */
const ENDED_MIDWAY = new Set([1053, 1105, 1180, 1317, 1927, 2006, 2013, 8501]);
/** The prepared statement does not exist, there is no room for it, or it must be prepared again. */
const PREPARING = new Set([1243, 1461, 1615]);

function failureOf({ code, errno, message }: DriverError): SqlFailureKind {
  // Node's own numbers are negative.
  if (errno !== undefined && errno > 0) {
    if (errno === 1062) return 'duplicate';
    if (CONTENTION.has(errno)) return 'contention';
    if (ENDED_MIDWAY.has(errno)) return 'unknown';
    if (NOT_THE_PRIMARY.has(errno)) return 'not-the-primary';
    if (errno === 1146 || errno === 1049) return 'missing-table';
    return WRONG_SHAPE.has(errno) ? 'wrong-shape' : 'refused';
  }
  if (code !== undefined && NEVER_SENT.has(code)) return 'refused';
  return message.includes('closed state') ? 'refused' : 'unknown';
}
