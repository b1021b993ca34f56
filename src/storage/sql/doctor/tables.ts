import { LockStorageError } from '../../../core';
import { quotePath, type SqlDialect } from '../dialects/sql-dialect';
import type { SchemaFinding } from '../schema/schema-finding';
import type { TableDefinition } from '../schema/table-definition';
import { found, type Finding } from './finding';
import type { Ask } from './settings';

/** A guard without once-per jobs works without the ledger, and every guard without the register. */
export function judgeTable(
  { row }: TableDefinition,
  { severity, code, message, remedy }: SchemaFinding,
): Finding {
  const isOptional = code === 'missing-table' && row !== 'lock';
  const [problem = '', fix] = message.replace(` Run: ${remedy};`, '').split(/(?<=\.) (.+)/);
  return {
    severity: isOptional ? 'warning' : severity,
    code,
    problem,
    fix: fix ?? 'Run this statement:',
    statement: remedy,
  };
}

/** The codes for a missing privilege. */
const DENIED: ReadonlySet<string | undefined> = new Set([
  'ER_TABLEACCESS_DENIED_ERROR',
  'ER_COLUMNACCESS_DENIED_ERROR',
  '42501',
]);

/** Which privileges the user of the session lacks. EXPLAIN needs those of its statement, and executes nothing. */
export async function lackedPrivileges(
  { path, columns }: TableDefinition,
  dialect: SqlDialect,
  ask: Ask,
): Promise<readonly string[]> {
  const table = quotePath(path, dialect);
  const column = dialect.quote(columns.find(({ kind }) => kind.is !== 'id')?.name ?? '');
  const statements = {
    SELECT: `SELECT ${column} FROM ${table} WHERE 1 = 0`,
    INSERT: `INSERT INTO ${table} (${column}) VALUES (NULL)`,
    UPDATE: `UPDATE ${table} SET ${column} = NULL WHERE 1 = 0`,
    DELETE: `DELETE FROM ${table} WHERE 1 = 0`,
  };
  const lacked: string[] = [];
  for (const [privilege, statement] of Object.entries(statements))
    await ask(`EXPLAIN ${statement}`).catch((error: unknown) => {
      if (error instanceof LockStorageError && DENIED.has(error.driverCode)) lacked.push(privilege);
    });
  return lacked;
}

/** No statement updates an event of a run, or deletes a registered job. Only purges and `keepRows: false` delete. */
export function judgePrivileges(
  { path, row, columns }: TableDefinition,
  lacked: readonly string[],
  { dialect, user }: { readonly dialect: SqlDialect; readonly user: string },
): Finding[] {
  const unneeded = columns.some(({ name }) => name === 'run_id') ? 'UPDATE' : row === 'job' ? 'DELETE' : '';
  const needed = lacked.filter((privilege) => privilege !== unneeded);
  if (needed.length === 0) return [];
  const code = needed.join() === 'DELETE' ? 'no-delete' : 'missing-privilege';
  const consequence = code === 'no-delete' ? 'delete its old rows' : 'use it';
  return [
    found(
      code,
      `The user ${user} lacks the privilege ${needed.join(', ')} on table '${path.join('.')}', so cronlatch cannot ${consequence}.`,
      `GRANT ${needed.join(', ')} ON ${quotePath(path, dialect)} TO ${user}`,
    ),
  ];
}

/**
 * On PostgreSQL, an insert also needs the sequence that numbers the rows, which EXPLAIN does not check. Identity columns
 * do not need it.
 */
export async function judgeSequence(
  { path, columns }: TableDefinition,
  { dialect, user }: { readonly dialect: SqlDialect; readonly user: string },
  ask: Ask,
): Promise<Finding[]> {
  const id = columns.find(({ kind }) => kind.is === 'id');
  if (dialect.name !== 'postgres' || id === undefined) return [];
  const table = quotePath(path, dialect);
  const rows =
    await ask(`SELECT s.name AS name FROM pg_get_serial_sequence('${table}', '${id.name}') AS s (name)
    JOIN pg_attribute a ON a.attrelid = '${table}'::regclass AND a.attname = '${id.name}'
    WHERE a.attidentity = '' AND NOT has_sequence_privilege(s.name, 'USAGE')`);
  return rows.map(({ name }) =>
    found(
      'missing-privilege',
      `The user ${user} lacks the privilege USAGE on sequence '${String(name)}', so cronlatch cannot insert rows.`,
      `GRANT USAGE ON SEQUENCE ${String(name)} TO ${user}`,
    ),
  );
}
