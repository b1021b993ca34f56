import { NamedStatement, type Parameters } from '../connections/named-statement';
import type { SqlStatement } from '../connections/sql-executor';
import {
  quoteLockTable,
  type LockTableShape,
  type LockTexts,
  type SqlDialect,
} from '../dialects/sql-dialect';
import { foundPath, leastPrecise, type InspectedColumn } from '../schema/inspected-table';
import { lockTableDefinition, type LockColumns, type LockTable } from '../schema/lock-table';
import { columnPairs, type FoundTable } from '../schema/verify-table';

/** The statements for a lock table as it was found. */
export class LockStatements {
  readonly #statements: Readonly<Record<keyof LockTexts, NamedStatement>>;

  constructor(
    dialect: SqlDialect,
    table: LockTable,
    readonly shape: LockTableShape,
  ) {
    const texts = Object.entries<string>({ ...dialect.lockTexts(quoteLockTable(table, dialect), shape) });
    const { byServerClock, placeholder } = dialect;
    const withServerClock = (text: string): string =>
      shape.overridesClock && byServerClock ? byServerClock(text) : text;
    this.#statements = Object.fromEntries(
      texts.map(([key, text]) => [key, new NamedStatement(withServerClock(text), placeholder)]),
    ) as Record<keyof LockTexts, NamedStatement>;
  }

  bind(key: keyof LockTexts, parameters: Parameters): SqlStatement {
    return this.#statements[key].bind(parameters);
  }
}

export interface LockStatementsOptions {
  readonly dialect: SqlDialect;
  readonly table: LockTable;
  readonly sharesSessions: boolean;
}

/** @param found a table without errors */
export function lockStatementsFor(
  found: FoundTable,
  { dialect, table, sharesSessions }: LockStatementsOptions,
): LockStatements | undefined {
  const pairs = columnPairs(lockTableDefinition(table), found, dialect);
  const columnOf = (property: keyof LockColumns): InspectedColumn | undefined =>
    pairs.find(({ column }) => column.property === property)?.found;
  const [name, lockUntil, lockedAt] = [columnOf('name'), columnOf('lockUntil'), columnOf('lockedAt')];
  if (!name || !lockUntil || !lockedAt) return undefined;
  const instant = leastPrecise([lockUntil, lockedAt]) ?? lockUntil;
  const { now, checkedNow } = dialect.inspection;
  const overridesClock = found.hasSessionClock === true && sharesSessions;
  const shape = {
    clockStepMs: stepMsOf(instant),
    now: overridesClock && checkedNow ? checkedNow(now(instant)) : now(instant),
    hasToken: columnOf('fencingToken') !== undefined,
    comparesBytes: name.comparesBytes ?? true,
    insertReturnsToken: !found.columns.some(({ isGenerated }) => isGenerated),
    overridesClock,
  };
  return new LockStatements(dialect, { ...table, path: foundPath(table.path, found) }, shape);
}

/** A column without a precision has the precision of the database's clock: SQLite's has milliseconds. */
function stepMsOf({ precision = 3 }: InspectedColumn): number {
  return precision >= 6 ? 0 : 1000 / 10 ** precision;
}
