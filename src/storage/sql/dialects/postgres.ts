import { NEVER_SENT, type DriverError, type SqlFailureKind } from '../statements/sql-failure';
import type { SqlDialect } from './sql-dialect';
import { groupStatements } from './postgres/group-statements';
import { columnTypes, inspection } from './postgres/tables';
import { lockTexts } from './postgres/lock-texts';
import { runFragments } from './postgres/run-fragments';

/** PostgreSQL 13 and later. */
export const postgres: SqlDialect = {
  name: 'postgres',
  label: 'PostgreSQL',
  quote: (identifier) => `"${identifier.replaceAll('"', '""')}"`,
  placeholder: (position) => `$${position}`,
  columnTypes,
  inspection,
  lockTexts,
  groupStatements,
  runFragments,
  returnsRows: true,
  refusalOf: (result) => (result.rows.length > 0 ? 'held' : 'missing'),
  failureOf,
  refusesPreparing,
};

const FAILURE_KINDS: Readonly<Record<string, SqlFailureKind>> = {
  '23505': 'duplicate',
  // Serialization failure, deadlock, lock timeout, statement timeout. After each the statement is undone.
  '40001': 'contention',
  '40P01': 'contention',
  '55P03': 'contention',
  '57014': 'contention',
  // Sent by CockroachDB and YugabyteDB if it is unknown whether the transaction was committed.
  '40003': 'unknown',
  // The server was shut down or crashed, or its database was dropped, while the statement ran.
  '57P01': 'unknown',
  '57P02': 'unknown',
  '57P04': 'unknown',
  '57P05': 'unknown',
  '25006': 'not-the-primary',
  '42P01': 'missing-table',
  '3F000': 'missing-table',
  '42703': 'wrong-shape',
  '22001': 'wrong-shape',
  '23502': 'wrong-shape',
  '42P10': 'wrong-shape',
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

function failureOf({ code, message }: DriverError): SqlFailureKind {
  if (code !== undefined && NEVER_SENT.has(code)) return 'refused';
  // Codes of Node and of the operating system begin with E, and have another length or no digits.
  if (code !== undefined && SQLSTATE.test(code) && /\d/.test(code)) {
    return FAILURE_KINDS[code] ?? (code.startsWith('08') ? 'unknown' : 'refused');
  }
  return /not queryable|client was closed|^prepared statements must/i.test(message) ? 'refused' : 'unknown';
}

/** A pooler has forgotten the prepared statement or has it already, its table has changed, or a tool has changed its text. */
function refusesPreparing({ code = '', message }: DriverError): boolean {
  return ['26000', '42P05', '0A000'].includes(code) || message.startsWith('Prepared statements must');
}
