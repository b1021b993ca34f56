import type { LockTable } from '../schema/lock-table';
import type { LockTableShape } from '../schema/lock-table-shape';
import { NamedStatement, type Parameters } from '../connections/named-statement';
import { quoteLockTable, type LockTexts, type SqlDialect } from '../sql-dialect';
import type { SqlStatement } from '../connections/sql-executor';

/** The statements that fit a table as it was found. */
export class LockStatements {
  readonly #statements: Readonly<Record<keyof LockTexts, NamedStatement>>;

  constructor(
    dialect: SqlDialect,
    table: LockTable,
    readonly shape: LockTableShape,
  ) {
    const texts = Object.entries<string>({ ...dialect.lockTexts(quoteLockTable(table, dialect), shape) });
    const { byServerClock, placeholder } = dialect;
    const timed = (text: string): string =>
      shape.overridesClock && byServerClock ? byServerClock(text) : text;
    this.#statements = Object.fromEntries(
      texts.map(([key, text]) => [key, new NamedStatement(timed(text), placeholder)]),
    ) as Record<keyof LockTexts, NamedStatement>;
  }

  bind(key: keyof LockTexts, parameters: Parameters): SqlStatement {
    return this.#statements[key].bind(parameters);
  }
}
