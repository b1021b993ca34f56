import type { SqlDialect } from '../sql-dialect';
import { failureOf, refusesPreparing } from './mysql/failures';
import { indexInspection } from './mysql/index-inspection';
import { inspection } from './mysql/inspection';
import { lockColumns } from './mysql/lock-columns';
import { lockTexts } from './mysql/lock-texts';
import { runColumns } from './mysql/run-columns';
import { runTexts } from './mysql/run-texts';

/** MySQL 8 and later, and MariaDB 10.6 and later. */
export const mysql: SqlDialect = {
  name: 'mysql',
  label: 'MySQL',
  quote: (identifier) => `\`${identifier.replaceAll('`', '``')}\``,
  placeholder: () => '?',
  lockColumns,
  inspection,
  // Only MariaDB executes the comment. 0 is the clock of the server. MySQL's hint SET_VAR(timestamp = 0) does the same,
  // but leaves the session with a clock that stands still.
  byServerClock: (text) => `/*M! SET STATEMENT timestamp = 0 FOR */ ${text}`,
  lockTexts,
  runColumns,
  indexInspection,
  runTexts,
  // Never changedRows. A plain INSERT that meets another row is an error, not a count.
  writtenRows: (result) => result.affectedRows,
  refusalOf: (result) => (Number(result.insertId) > 0 ? 'held' : 'missing'),
  tokenOf: (result) => result.insertId,
  failureOf,
  refusesPreparing,
};
