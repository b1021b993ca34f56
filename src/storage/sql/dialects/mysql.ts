import type { SqlDialect } from './sql-dialect';
import { columnTypes } from './mysql/column-types';
import { failureOf, refusesPreparing } from './mysql/failures';
import { groupTexts } from './mysql/group-texts';
import { inspection } from './mysql/inspection';
import { lockTexts } from './mysql/lock-texts';
import { runWords } from './mysql/run-words';

/** MySQL 8 and later, and MariaDB 10.6 and later. */
export const mysql: SqlDialect = {
  name: 'mysql',
  label: 'MySQL',
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  placeholder: () => '?',
  columnTypes,
  inspection,
  // Only MariaDB executes the comment; 0 means the clock of the server. MySQL's hint SET_VAR(timestamp = 0) does the same,
  // but the session's clock then stops.
  byServerClock: (text) => `/*M! SET STATEMENT timestamp = 0 FOR */ ${text}`,
  lockTexts,
  groupTexts,
  runWords,
  // Never changedRows. A plain INSERT of an existing key fails instead of counting 0 rows.
  writtenRows: (result) => result.affectedRows,
  refusalOf: (result) => (Number(result.insertId) > 0 ? 'held' : 'missing'),
  tokenOf: (result) => result.insertId,
  failureOf,
  refusesPreparing,
};
