import type { SqlDialect } from '../sql-dialect';
import { failureOf, refusesPreparing } from './postgres/failures';
import { indexInspection } from './postgres/index-inspection';
import { inspection } from './postgres/inspection';
import { lockColumns } from './postgres/lock-columns';
import { lockTexts } from './postgres/lock-texts';
import { runColumns } from './postgres/run-columns';
import { runTexts } from './postgres/run-texts';

/** PostgreSQL 13 and later. */
export const postgres: SqlDialect = {
  name: 'postgres',
  label: 'PostgreSQL',
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: (position) => `$${position}`,
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
