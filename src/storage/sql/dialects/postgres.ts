import type { SqlDialect } from './sql-dialect';
import { columnTypes } from './postgres/column-types';
import { failureOf, refusesPreparing } from './postgres/failures';
import { groupTexts } from './postgres/group-texts';
import { inspection } from './postgres/inspection';
import { lockTexts } from './postgres/lock-texts';
import { runWords } from './postgres/run-words';

/** PostgreSQL 13 and later. */
export const postgres: SqlDialect = {
  name: 'postgres',
  label: 'PostgreSQL',
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: (position) => `$${position}`,
  columnTypes,
  inspection,
  lockTexts,
  groupTexts,
  runWords,
  // Every writing statement returns its row.
  writtenRows: (result) => result.rows.length,
  refusalOf: () => undefined,
  tokenOf: (result) => result.rows[0]?.['fencing_token'],
  failureOf,
  refusesPreparing,
};
