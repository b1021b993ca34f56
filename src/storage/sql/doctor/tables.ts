import { LockStorageError, SchemaMismatchError } from '../../../core';
import { quotePath, type SqlDialect } from '../dialects/sql-dialect';
import type { SchemaFinding } from '../schema/schema-finding';
import type { TableDefinition } from '../schema/table-definition';
import { finding, type Finding } from '../connections/finding';
import { NO_RIGHT } from '../statements/failed-connection';
import type { Ask } from '../connections/proxy-check';
import { QUOTED_USER } from './settings';

/** A guard without once-per jobs works without the ledger, and every guard without the register. */
export function judgeTable(
  { row }: TableDefinition,
  { severity, code, message, remedy }: SchemaFinding,
  address: string,
): Finding {
  const isOptional = code === 'missing-table' && row !== 'lock';
  const afterAddress = message.indexOf(address) + address.length;
  const [rest = '', fix] = message
    .slice(afterAddress)
    .replace(` Run: ${remedy};`, '')
    .split(/(?<=\.) (.+)/);
  return {
    severity: isOptional ? 'warning' : severity,
    code,
    problem: message.slice(0, afterAddress) + rest,
    fix:
      code === 'missing-table'
        ? 'Create what is missing with npx cronlatch init.'
        : (fix ?? 'Run this statement:'),
    statement: remedy,
  };
}

/** A read-only server refuses the statement before it checks the privileges. Another finding reports that. */
const READ_ONLY = 'ER_OPTION_PREVENTS_STATEMENT';

/**
 * Which privileges the user of the session lacks. EXPLAIN needs those of its statement, and executes nothing. Only purges
 * and `keepRows: false` delete, so DELETE is not needed.
 */
export async function judgePrivileges(
  { path, columns }: TableDefinition,
  { dialect, user }: { readonly dialect: SqlDialect; readonly user: string },
  ask: Ask,
): Promise<Finding[]> {
  const lacks = (privilege: string, kind: string, name: string, quoted: string): Finding =>
    finding(
      'missing-privilege',
      `The user ${user} lacks the privilege ${privilege} on ${kind} '${name}', so cronlatch cannot use it.`,
      `GRANT ${privilege} ON ${kind === 'table' ? '' : 'SEQUENCE '}${quoted} TO ${user}`,
    );
  const table = quotePath(path, dialect);
  const column = dialect.quote(columns.find(({ kind }) => kind.is !== 'id')?.name ?? '');
  const isOfEvents = columns.some(({ name }) => name === 'run_id');
  const statements = {
    SELECT: `SELECT ${column} FROM ${table} WHERE 1 = 0`,
    INSERT: `INSERT INTO ${table} (${column}) VALUES (NULL)`,
    ...(isOfEvents ? {} : { UPDATE: `UPDATE ${table} SET ${column} = NULL WHERE 1 = 0` }),
  };
  const lacked: string[] = [];
  for (const [privilege, statement] of Object.entries(statements))
    await ask(`EXPLAIN ${statement}`).catch((error: unknown) => {
      const code = error instanceof LockStorageError ? error.driverCode : undefined;
      if (NO_RIGHT.has(code)) lacked.push(privilege);
      else if (code !== READ_ONLY) throw error;
    });
  const findings = lacked.length === 0 ? [] : [lacks(lacked.join(', '), 'table', path.join('.'), table)];
  const id = columns.find(({ kind }) => kind.is === 'id');
  const { sequenceFix } = dialect.columnTypes;
  if (sequenceFix === undefined || id === undefined) return findings;
  // An insert also needs the sequence that numbers the rows, which EXPLAIN does not check. Identity columns do not.
  const sequences =
    await ask(`SELECT s.name AS name FROM pg_get_serial_sequence('${table}', '${id.name}') AS s (name)
    JOIN pg_attribute a ON a.attrelid = '${table}'::regclass AND a.attname = '${id.name}'
    WHERE a.attidentity = '' AND NOT has_sequence_privilege(s.name, 'USAGE')`);
  const names = sequences.map(({ name }) => String(name));
  findings.push(...names.map((name) => lacks('USAGE', 'sequence', name, name)));
  const problem = `The next ids of table '${path.join('.')}' are in use, so no row can be inserted.`;
  if (findings.length === 0 && (await ask(sequenceFix(path, '1'))).length > 0)
    findings.push(finding('sequence-behind', problem, sequenceFix(path)));
  return findings;
}

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
