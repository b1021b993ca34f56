import { LockStorageError, SchemaMismatchError } from '../../../core';
import { NO_RIGHT } from '../statements/failed-connection';
import type { Ask } from '../connections/proxy-check';
import type { SqlDialect } from '../dialects/sql-dialect';
import type { TableDefinition } from '../schema/table-definition';
import { QUOTED_USER } from './settings';
import { judgePrivileges } from './tables';

/** The user of the session as GRANT takes it, and where a table without a schema would be. */
const GRANTEES = {
  mysql: `SELECT CONCAT(${QUOTED_USER.join(`, '@', `)}) AS grantee, DATABASE() AS place`,
  postgres: `SELECT quote_ident(current_user) AS grantee, COALESCE(current_schema(), 'public') AS place`,
  sqlite: `SELECT '' AS grantee, '' AS place`,
};

/** Adds the statement that lets the user create the table to the error of CREATE TABLE, if a right is missing. */
export async function withGrant(
  error: unknown,
  { path }: TableDefinition,
  dialect: SqlDialect,
  ask: Ask,
): Promise<unknown> {
  if (!(error instanceof LockStorageError) || !NO_RIGHT.has(error.driverCode)) return error;
  const [row] = await ask(GRANTEES[dialect.name]);
  const [schema = String(row?.['place'])] = path.slice(0, -1);
  const [rights, on] = dialect.name === 'mysql' ? ['CREATE', ''] : ['USAGE, CREATE', 'SCHEMA '];
  const place = `${on}${dialect.quote(schema)}${dialect.name === 'mysql' ? '.*' : ''}`;
  const reason = error.message.replace(/ Grant this right, .+$/, '');
  const message = `${reason} As an administrator, run: GRANT ${rights} ON ${place} TO ${String(row?.['grantee'])};`;
  const { outcome, driverCode, cause } = error;
  return new LockStorageError(message, { outcome, driverCode, cause });
}

/** @throws SchemaMismatchError with the statements to run if the user cannot insert rows */
export async function requireInserts(table: TableDefinition, dialect: SqlDialect, ask: Ask): Promise<void> {
  const [row] = await ask(GRANTEES[dialect.name]);
  const findings = await judgePrivileges(table, { dialect, user: String(row?.['grantee']) }, ask);
  const lacking = findings.filter(({ code }) => code === 'missing-privilege');
  if (lacking.length === 0) return;
  const lines = lacking.map(({ problem, statement }) => `${problem} Run: ${statement};`);
  throw new SchemaMismatchError(lines.join('\n'), { outcome: 'nothing-ran' });
}
