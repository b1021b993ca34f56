import type { SqlDialect } from '../sql-dialect';
import { failureOf, refusesPreparing } from './sqlite/failures';
import { indexInspection } from './sqlite/index-inspection';
import { inspection } from './sqlite/inspection';
import { lockColumns } from './sqlite/lock-columns';
import { lockTexts } from './sqlite/lock-texts';
import { runColumns } from './sqlite/run-columns';
import { runTexts } from './sqlite/run-texts';

/** SQLite 3.42 and later. */
export const sqlite: SqlDialect = {
  name: 'sqlite',
  label: 'SQLite',
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: () => '?',
  lockColumns,
  inspection,
  lockTexts,
  runColumns,
  indexInspection,
  runTexts,
  // Every writing statement returns its row.
  writtenRows: (result) => result.rows.length,
  refusalOf: () => undefined,
  tokenOf: (result) => result.rows[0]?.['fencing_token'],
  failureOf,
  refusesPreparing,
};
