import { PLACE_NAME } from '../../../core/lock-name';
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

export type LockStatementName =
  Exclude<keyof LockTexts, 'records'> | 'inspect' | 'resolve' | 'list' | 'listHeld';

/** The statements for a lock table as it was found. */
export interface LockStatements extends Readonly<Record<LockStatementName, NamedStatement>> {
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
  const { name, lockUntil } = quoted;
  const { records, ...writes } = dialect.lockTexts(quoted, shape);
  const inspect = `${records} WHERE ${name} = :name`;
  const listed = `${records} WHERE ${name} <> '${PLACE_NAME}' AND ${name} > :after`;
  const inOrder = `ORDER BY ${name} LIMIT 1000`;
  const texts: Readonly<Record<LockStatementName, string>> = {
    ...writes,
    inspect,
    // Waits for writers, because a plain read could overtake the statement whose outcome is in doubt. On SQLite, statements
    // run one at a time and end when they return, so a plain read sees every write that was sent before.
    resolve: `${inspect}${dialect.runFragments(shape).forUpdate}`,
    list: `${listed} ${inOrder}`,
    listHeld: `${listed} AND ${lockUntil} > ${shape.now} ${inOrder}`,
  };
  const statements = Object.entries(texts).map(([key, text]) => [key, named(text)] as const);
  return {
    ...(Object.fromEntries(statements) as Record<LockStatementName, NamedStatement>),
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
