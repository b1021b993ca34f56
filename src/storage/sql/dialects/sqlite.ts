import type { SqlDialect } from './sql-dialect';
import { columnTypes } from './sqlite/column-types';
import { failureOf, refusesPreparing } from './sqlite/failures';
import { inspection } from './sqlite/inspection';
import { lockTexts } from './sqlite/lock-texts';
import { runWords } from './sqlite/run-words';

/** SQLite 3.42 and later. */
export const sqlite: SqlDialect = {
  name: 'sqlite',
  label: 'SQLite',
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: () => '?',
  columnTypes,
  inspection,
  lockTexts,
  runWords,
  // Every writing statement returns its row.
  writtenRows: (result) => result.rows.length,
  refusalOf: () => undefined,
  tokenOf: (result) => result.rows[0]?.['fencing_token'],
  failureOf,
  refusesPreparing,
};
