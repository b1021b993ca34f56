import { NamedStatement } from '../statements/statement';
import {
  quoteLockTable,
  type GroupStatements,
  type LockTableShape,
  type LockTexts,
  type SqlDialect,
} from '../dialects/sql-dialect';
import {
  asFound,
  columnPairs,
  leastPrecise,
  type InspectedColumn,
  type InspectedTable,
} from '../schema/inspected-table';
import type { TableDefinition } from '../schema/table-definition';
import type { LockColumns } from '../schema/table-options';

/** The statements for a lock table as it was found. */
export interface LockStatements extends Readonly<Record<keyof LockTexts, NamedStatement>> {
  readonly shape: LockTableShape;
  /** `undefined`: each lock needs a statement of its own. */
  readonly group: GroupStatements | undefined;
}

export function lockStatements(
  dialect: SqlDialect,
  table: TableDefinition,
  shape: LockTableShape,
): LockStatements {
  const named = NamedStatement.byText(dialect.placeholder);
  const quoted = quoteLockTable(table, dialect);
  const texts = Object.entries(dialect.lockTexts(quoted, shape));
  const statements = texts.map(([key, text]: [string, string]) => [key, named(text)] as const);
  return {
    ...(Object.fromEntries(statements) as Record<keyof LockTexts, NamedStatement>),
    shape,
    group: dialect.groupStatements?.(quoted, shape, named),
  };
}

/** @param found a table without errors */
export function lockStatementsFor(
  found: InspectedTable,
  table: TableDefinition,
  dialect: SqlDialect,
): LockStatements | undefined {
  const pairs = columnPairs(table, found, dialect.inspection);
  const columnOf = (property: keyof LockColumns): InspectedColumn | undefined =>
    pairs.find(({ column }) => column.property === property)?.found;
  const [name, lockUntil, lockedAt] = [columnOf('name'), columnOf('lockUntil'), columnOf('lockedAt')];
  if (!name || !lockUntil || !lockedAt) return undefined;
  const instant = leastPrecise([lockUntil, lockedAt]) ?? lockUntil;
  const shape = {
    clockStepMs: stepMsOf(instant),
    now: dialect.inspection.now(instant),
    hasToken: columnOf('fencingToken') !== undefined,
    comparesBytes: name.comparesBytes ?? true,
    insertReturnsToken: !found.columns.some(({ isGenerated }) => isGenerated),
    keyIndex: name.uniqueIndex,
  };
  return lockStatements(dialect, asFound(table, found), shape);
}

/** A column without a precision has the precision of the database's clock: SQLite's has milliseconds. */
function stepMsOf({ precision = 3 }: InspectedColumn): number {
  return precision >= 6 ? 0 : 1000 / 10 ** precision;
}
