import { runMigrationFor } from './migration-for';
import { NamedStatement, type Parameters } from '../connections/named-statement';
import { definitionsOf, RUN_KEY, type RunTableDefinition } from './run-columns';
import { RunStatements } from '../ledger/run-statements';
import type { RunTables } from './run-table';
import { foundPath } from '../sql-dialect';
import type { ExecuteOptions, SqlResult, SqlStatement } from '../connections/sql-executor';
import type { SqlTablesOptions } from './sql-tables-options';
import { isUsable, leastPrecise } from './table-observations';
import { VerifiedSchema } from './verified-schema';
import { instantsOf, uniqueIndexOn, verifyRunTable } from './verify-run-table';

export interface RunSchemaOptions extends Omit<SqlTablesOptions, 'executor'> {
  readonly tables: RunTables;
  readonly execute: (statement: SqlStatement, options: ExecuteOptions) => Promise<SqlResult>;
}

export type RunSchema = VerifiedSchema<RunStatements>;

/** The ledger's tables as they are found, and the statements that fit them. */
export function runSchema(options: RunSchemaOptions): RunSchema {
  const { dialect, tables, warn } = options;
  const context = { ...options, migration: runMigrationFor(tables) };
  return new VerifiedSchema(async (executeOptions) => {
    const looked = [];
    for (const definition of definitionsOf(tables)) {
      const inspected = await inspect(definition, options, executeOptions);
      const findings = verifyRunTable(definition, inspected, context);
      const instants = instantsOf(definition, inspected, dialect);
      const keyIndex = uniqueIndexOn(RUN_KEY, inspected.indexes)?.name;
      const path = foundPath(definition.path, inspected);
      looked.push({ findings, instants, keyIndex, path, overridesClock: inspected.hasSessionClock });
    }
    const findings = looked.flatMap((table) => table.findings);
    const instant = leastPrecise(looked.flatMap(({ instants }) => instants));
    const [run, event] = looked;
    if (instant === undefined || run?.keyIndex === undefined || event === undefined || !isUsable(findings))
      return { findings, statements: undefined };
    const { keyIndex, overridesClock = false } = run;
    const shape = { now: dialect.inspection.now(instant), keyIndex, overridesClock };
    const found = { ...tables, run: run.path, event: event.path };
    return { findings, statements: new RunStatements(dialect, found, shape) };
  }, warn);
}

async function inspect(
  { path }: RunTableDefinition,
  options: RunSchemaOptions,
  executeOptions: ExecuteOptions,
) {
  const { inspection, indexInspection, placeholder } = options.dialect;
  const location = { path, database: options.database };
  const ask = async ({ text, parameters }: { text: string; parameters: Parameters }) =>
    (await options.execute(new NamedStatement(text, placeholder).bind(parameters), executeOptions)).rows;
  const table = inspection.read(await ask(inspection.statement(location)));
  return { ...table, indexes: indexInspection.read(await ask(indexInspection.statement(location))) };
}
