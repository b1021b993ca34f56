import { LockStatements } from './lock-statements';
import { NamedStatement } from './named-statement';
import type { ExecuteOptions, SqlResult, SqlStatement } from './sql-executor';
import { VerifiedSchema } from './verified-schema';
import { verifyLockTable, type VerificationContext } from './verify-lock-table';

export interface LockSchemaOptions extends VerificationContext {
  readonly execute: (statement: SqlStatement, options: ExecuteOptions) => Promise<SqlResult>;
  readonly warn: (message: string) => void;
}

export type LockSchema = VerifiedSchema<LockStatements>;

/** The lock table as it is found, and the statements that fit it. */
export function lockSchema(options: LockSchemaOptions): LockSchema {
  const { dialect, table, execute, warn } = options;
  const { text, parameters } = dialect.inspection.statement(table.path);
  const inspection = new NamedStatement(text, dialect.placeholder).bind(parameters);
  return new VerifiedSchema(async (executeOptions) => {
    const { rows } = await execute(inspection, executeOptions);
    const { findings, shape } = verifyLockTable(dialect.inspection.read(rows), options);
    return { findings, statements: shape && new LockStatements(dialect, table, shape) };
  }, warn);
}
