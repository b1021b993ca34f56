import { NEVER_SENT, type DriverError, type SqlFailureKind } from '../../connections/sql-failure';

const FAILURE_KINDS: Readonly<Record<string, SqlFailureKind>> = {
  ...{ '23505': 'duplicate' },
  // Serialization failure, deadlock, lock time-out, statement time-out: each has undone the statement.
  ...{ '40001': 'contention', '40P01': 'contention', '55P03': 'contention', '57014': 'contention' },
  // Sent by CockroachDB and YugabyteDB: the transaction has ended, one way or the other.
  ...{ '40003': 'unknown' },
  // The server is shut down, has crashed, or its database was dropped, while the statement ran.
  ...{ '57P01': 'unknown', '57P02': 'unknown', '57P04': 'unknown', '57P05': 'unknown' },
  ...{ '25006': 'not-the-primary' },
  ...{ '42P01': 'missing-table', '3F000': 'missing-table' },
  ...{ '42703': 'wrong-shape', '22001': 'wrong-shape', '23502': 'wrong-shape', '42P10': 'wrong-shape' },
};

const SQLSTATE = /^[0-9A-Z]{5}$/;

export function failureOf({ code, message }: DriverError): SqlFailureKind {
  if (code !== undefined && NEVER_SENT.has(code)) return 'refused';
  // Codes of Node and of the operating system begin with an E and have other lengths, or none of PostgreSQL's digits.
  if (code !== undefined && SQLSTATE.test(code) && /\d/.test(code)) {
    return FAILURE_KINDS[code] ?? (code.startsWith('08') ? 'unknown' : 'refused');
  }
  return /not queryable|client was closed/i.test(message) ? 'refused' : 'unknown';
}

/** Unknown to the server, known to it already, or planned for a table that has changed: behind a pooler, or after an ALTER TABLE. */
export function refusesPreparing({ code }: DriverError): boolean {
  return code === '26000' || code === '42P05' || code === '0A000';
}
