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
  quote: (identifier) => `\`${identifier}\``,
  placeholder: () => '?',
  lockColumns,
  inspection,
  lockTexts,
  runColumns,
  indexInspection,
  runTexts,
  // Never changedRows. A plain INSERT that meets another row is an error, not a count.
  writtenRows: (result) => result.affectedRows,
  tokenOf: (result) => result.insertId,
  failureOf,
  refusesPreparing,
};
