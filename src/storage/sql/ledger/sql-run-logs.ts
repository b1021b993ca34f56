import { LockStorageError, noneAfter, type StatementOptions } from '../../../core';
import type { Claim, RunKey, RunProgress } from '../../../ledger/run';
import type { RunLogEntry, RunLogStore } from '../../../ledger/run-log-store';
import { NamedStatement, type SqlRow, type SqlStatement } from '../statements/statement';
import { quotePath } from '../dialects/sql-dialect';
import { asFound, type InspectedTable } from '../schema/inspected-table';
import type { TableDefinition } from '../schema/table-definition';
import type { RunTables } from '../schema/tables';
import { VerifiedTables, type SqlTablesOptions } from '../tables/verified-tables';
import { shapeOf } from './job-statements';
import { readId, readInteger, readRequiredInstant } from './run-rows';
import { insertedId } from './run-statements';

interface SqlRunLogsOptions extends SqlTablesOptions {
  readonly tables: RunTables;
  readonly logTable: TableDefinition;
}

type LogStatements = NonNullable<ReturnType<typeof logStatements>>;

/** Keeps the logs of runs in a table of their own, which may be missing. */
export class SqlRunLogs implements RunLogStore {
  readonly #tables: VerifiedTables<LogStatements>;
  /** The ids of the run and of the last entry, so that only the first entry of an attempt reads the table of runs. */
  readonly #known = new WeakMap<Claim, { readonly run: number; readonly last?: number }>();

  constructor(options: SqlRunLogsOptions) {
    this.#tables = new VerifiedTables(options, [options.logTable], ([found]) =>
      logStatements(found, options),
    );
  }

  async append(
    claim: Claim,
    { lines, done, total }: Pick<RunLogEntry, 'lines'> & RunProgress,
    options: StatementOptions,
  ): Promise<void> {
    const { generation, attempt } = claim;
    const progress = { done: done ?? null, total: total ?? null };
    const { run, last } = this.#known.get(claim) ?? { run: await this.#findRun(claim, options) };
    if (lines === '' && last !== undefined) {
      await this.#send((of) => of.update.bind({ last, ...progress }), options);
      return;
    }
    const values = { run, generation, attempt, lines, ...progress };
    const inserted = await this.#send((of) => of.insert.bind(values), options);
    this.#known.set(claim, { run, last: insertedId(inserted, 'the log of a run') });
  }

  /** On MySQL, an INSERT that reads the run itself would wait for the transaction that completes it. */
  async #findRun({ job, scope, periodKey }: Claim, options: StatementOptions): Promise<number> {
    const { rows } = await this.#send((of) => of.findRun.bind({ job, scope, periodKey }), options);
    return readId(rows[0] ?? {});
  }

  async read(run: RunKey, after: number, options: StatementOptions): Promise<readonly RunLogEntry[]> {
    const { job, scope, periodKey } = run;
    const { rows } = await this.#send((of) => of.read.bind({ job, scope, periodKey, after }), options);
    return rows.map((row) => ({
      id: readId(row),
      at: readRequiredInstant(row, 'at', 'the log of a run'),
      generation: Number(row['generation']),
      attempt: Number(row['attempt']),
      lines: String(row['content']),
    }));
  }

  /** How far the attempts of these runs are, by the ids of the runs. */
  async progress(runs: readonly number[], options: StatementOptions): Promise<Map<number, RunProgress>> {
    const statement = (of: LogStatements): SqlStatement => of.progress.bind({ ids: JSON.stringify(runs) });
    // An overview must not fail because of it: the table can be missing, or an operator may not read it.
    const result = await this.#send(statement, options).catch(noneAfter(LockStorageError));
    const rows = result?.rows ?? [];
    const progressOf = (row: SqlRow) => ({ done: Number(row['done']), total: readInteger(row, 'total') });
    return new Map(rows.filter(({ done }) => done !== null).map((row) => [readId(row), progressOf(row)]));
  }

  /** Deletes the logs of the runs `:ids`. `undefined` without a table of logs. */
  async deletion({ timeoutMs }: StatementOptions): Promise<NamedStatement | undefined> {
    await this.#tables.verify({ timeoutMs });
    return this.#tables.verified?.delete;
  }

  async #send(statement: (of: LogStatements) => SqlStatement, { timeoutMs }: StatementOptions) {
    return (await this.#tables.send(statement, { timeoutMs }, 'the log of a run')).result;
  }
}

/** @param found the table of logs, without errors */
function logStatements(found: InspectedTable | undefined, { dialect, logTable, tables }: SqlRunLogsOptions) {
  const shape = shapeOf(logTable, found, dialect);
  if (shape === undefined || found === undefined) return undefined;
  const { now } = shape;
  const named = NamedStatement.byText(dialect.placeholder);
  const { us, is, integer, returningId, listed, deleteListed } = dialect.runFragments(shape);
  const log = quotePath(asFound(logTable, found).path, dialect);
  const run = quotePath(tables.run.path, dialect);
  const lines = dialect.quote('lines'); // A reserved word of MySQL.
  const ofKey = `${is('r.job_name', ':job')} AND ${is('r.scope', ':scope')} AND ${is('r.period_key', ':periodKey')}`;
  const last = (column: string): string => `(SELECT l.${column} FROM ${log} l WHERE l.run_id = r.id
      AND l.generation = r.generation AND l.attempt = r.attempt ORDER BY l.id DESC LIMIT 1) AS ${column}`;
  return {
    findRun: named(`SELECT r.id AS id FROM ${run} r WHERE ${ofKey}`),
    insert: named(`INSERT INTO ${log} (run_id, generation, attempt, at, ${lines}, done, total)
      VALUES (:run, :generation, :attempt, ${now}, :lines, :done, :total)${returningId}`),
    update: named(
      `UPDATE ${log} SET done = :done, total = :total WHERE id = ${integer(':last')}${returningId}`,
    ),
    read: named(`SELECT l.id AS id, ${us('l.at')} AS at, l.generation AS generation, l.attempt AS attempt,
        l.${lines} AS content
      FROM ${run} r JOIN ${log} l ON l.run_id = r.id
      WHERE ${ofKey} AND l.id > ${integer(':after')} AND l.${lines} <> '' ORDER BY l.id LIMIT 10000`),
    progress: named(
      `SELECT r.id AS id, ${last('done')}, ${last('total')} FROM ${listed(run, 'r', 'id')} TRUE`,
    ),
    delete: named(deleteListed(log, 'l', 'run_id')),
  };
}
