import { NEVER_SENT, type DriverError, type SqlFailureKind } from '../statements/sql-failure';
import type { SqlDialect } from './sql-dialect';
import { columnTypes, inspection } from './postgres/tables';
import { groupStatements, lockTexts } from './postgres/lock-texts';
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

/** Any other code is that of a refusal, unless its class 08 is that of the connection. */
const CODES: readonly (readonly [SqlFailureKind, readonly string[]])[] = [
  ['duplicate', ['23505']],
  // Serialization failure, deadlock, lock timeout, statement timeout. After each the statement is undone.
  ['contention', ['40001', '40P01', '55P03', '57014']],
  // Sent by CockroachDB and YugabyteDB if it is unknown whether the transaction was committed.
  ['unknown', ['40003']],
  // The server was shut down or crashed, or its database was dropped, while the statement ran.
  ['unknown', ['57P01', '57P02', '57P04', '57P05']],
  ['not-the-primary', ['25006']],
  ['missing-table', ['42P01', '3F000']],
  ['wrong-shape', ['42703', '22001', '23502', '42P10']],
];

const SQLSTATE = /^[0-9A-Z]{5}$/;

function failureOf({ code, message }: DriverError): SqlFailureKind {
  if (code !== undefined && NEVER_SENT.has(code)) return 'refused';
  // Codes of Node and of the operating system begin with E, and have another length or no digits.
  if (code !== undefined && SQLSTATE.test(code) && /\d/.test(code)) {
    const [kind] = CODES.find(([, codes]) => codes.includes(code)) ?? [];
    return kind ?? (code.startsWith('08') ? 'unknown' : 'refused');
  }
  return /not queryable|client was closed|^prepared statements must/i.test(message) ? 'refused' : 'unknown';
}

/** A pooler has forgotten the prepared statement or has it already, its table has changed, or a tool has changed its text. */
function refusesPreparing({ code = '', message }: DriverError): boolean {
  return ['26000', '42P05', '0A000'].includes(code) || message.startsWith('Prepared statements must');
}
