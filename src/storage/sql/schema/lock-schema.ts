import { LockStatements } from '../lock/lock-statements';
import type { InspectedTable } from './lock-table-shape';
import { NamedStatement } from '../connections/named-statement';
import type { ExecuteOptions, SqlResult, SqlStatement } from '../connections/sql-executor';
import { foundPath } from '../sql-dialect';
import { VerifiedSchema } from './verified-schema';
import { verifyLockTable, type VerificationContext } from './verify-lock-table';

export interface LockSchemaOptions extends VerificationContext {
  readonly database: string | undefined;
  readonly execute: (statement: SqlStatement, options: ExecuteOptions) => Promise<SqlResult>;
  readonly warn: (message: string) => void;
  /** Called with each table that can hold locks. */
  readonly found: (table: InspectedTable) => void;
}

export type LockSchema = VerifiedSchema<LockStatements>;

/** The lock table as it is found, and the statements that fit it. */
export function lockSchema(options: LockSchemaOptions): LockSchema {
  const { dialect, table, database, execute, warn } = options;
  const { text, parameters } = dialect.inspection.statement({ path: table.path, database });
  const inspection = new NamedStatement(text, dialect.placeholder).bind(parameters);
  return new VerifiedSchema(async (executeOptions) => {
    const { rows } = await execute(inspection, executeOptions);
    const inspected = dialect.inspection.read(rows);
    const { findings, shape } = verifyLockTable(inspected, options);
    if (shape) options.found(inspected);
    const found = { ...table, path: foundPath(table.path, inspected) };
    return { findings, statements: shape && new LockStatements(dialect, found, shape) };
  }, warn);
}
