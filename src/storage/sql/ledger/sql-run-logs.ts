import { LockStorageError, noneAfter, type StatementOptions } from '../../../core';
import type { Claim, RunKey, RunProgress } from '../../../ledger/run';
import type { RunLogEntry, RunLogStore } from '../../../ledger/run-log-store';
import type { Parameters, SqlResult, SqlRow, SqlStatement } from '../statements/statement';
import { quotePath, type SqlDialect, type TableShape } from '../dialects/sql-dialect';
import type { TableDefinition } from '../schema/table-definition';
import type { RunTables } from '../schema/tables';
import { VerifiedTables, type SqlTablesOptions } from '../tables/verified-tables';
import { statementsOn } from './job-statements';
import { readId, readInteger, readRequiredInstant } from './run-rows';
import type { DeleteLogs } from './purge-walk';
import { insertedId } from './run-statements';

type Texts = ReturnType<typeof logTexts>;

/** Keeps the logs of runs in a table of their own, which may be missing. */
export class SqlRunLogs implements RunLogStore {
  readonly #tables: VerifiedTables<(text: keyof Texts, values: Parameters) => SqlStatement>;
  /** The ids of the run and of the last entry, so that only the first entry of an attempt reads the table of runs. */
  readonly #known = new WeakMap<Claim, { readonly run: number; readonly last?: number }>();

  constructor(
    options: SqlTablesOptions & { readonly tables: RunTables; readonly logTable: TableDefinition },
  ) {
    const { dialect, logTable, tables } = options;
    this.#tables = new VerifiedTables(options, [logTable], ([found]) =>
      statementsOn(logTable, found, dialect, (table, of, shape) => logTexts(table, tables.run, of, shape)),
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
      await this.#send('update', { last, ...progress }, options);
      return;
    }
    const values = { run, generation, attempt, lines, ...progress };
    const inserted = await this.#send('insert', values, options);
    this.#known.set(claim, { run, last: insertedId(inserted, 'the log of a run') });
  }

  /** On MySQL, an INSERT that reads the run itself would wait for the transaction that completes it. */
  async #findRun({ job, scope, periodKey }: Claim, options: StatementOptions): Promise<number> {
    const { rows } = await this.#send('findRun', { job, scope, periodKey }, options);
    return readId(rows[0] ?? {});
  }

  async read(run: RunKey, after: number, options: StatementOptions): Promise<readonly RunLogEntry[]> {
    const { job, scope, periodKey } = run;
    const { rows } = await this.#send('read', { job, scope, periodKey, after }, options);
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
    // An overview must not fail because of it: the table can be missing, or an operator may not read it.
    const sent = this.#send('progress', { ids: JSON.stringify(runs) }, options);
    const result = await sent.catch(noneAfter(LockStorageError));
    const rows = result?.rows ?? [];
    const progressOf = (row: SqlRow) => ({ done: Number(row['done']), total: readInteger(row, 'total') });
    return new Map(rows.filter(({ done }) => done !== null).map((row) => [readId(row), progressOf(row)]));
  }

  /** Deletes the logs of runs by the ids of the runs. `undefined` without a table of logs. */
  async deletion({ timeoutMs }: StatementOptions): Promise<DeleteLogs | undefined> {
    await this.#tables.verify({ timeoutMs });
    const bind = this.#tables.verified;
    return bind && ((runs) => bind('delete', { ids: JSON.stringify(runs) }));
  }

  async #send(text: keyof Texts, values: Parameters, { timeoutMs }: StatementOptions): Promise<SqlResult> {
    return (await this.#tables.send((bind) => bind(text, values), { timeoutMs }, 'the log of a run')).result;
  }
}

function logTexts(
  logTable: TableDefinition,
  runTable: TableDefinition,
  dialect: SqlDialect,
  shape: TableShape,
) {
  const { now } = shape;
  const { us, is, integer, returningId, listed, deleteListed } = dialect.runFragments(shape);
  const log = quotePath(logTable.path, dialect);
  const run = quotePath(runTable.path, dialect);
  const lines = dialect.quote('lines'); // A reserved word of MySQL.
  const ofKey = `${is('r.job_name', ':job')} AND ${is('r.scope', ':scope')} AND ${is('r.period_key', ':periodKey')}`;
  const last = (column: string): string => `(SELECT l.${column} FROM ${log} l WHERE l.run_id = r.id
      AND l.generation = r.generation AND l.attempt = r.attempt ORDER BY l.id DESC LIMIT 1) AS ${column}`;
  return {
    findRun: `SELECT r.id AS id FROM ${run} r WHERE ${ofKey}`,
    insert: `INSERT INTO ${log} (run_id, generation, attempt, at, ${lines}, done, total)
      VALUES (:run, :generation, :attempt, ${now}, :lines, :done, :total)${returningId}`,
    update: `UPDATE ${log} SET done = :done, total = :total WHERE id = ${integer(':last')}${returningId}`,
    read: `SELECT l.id AS id, ${us('l.at')} AS at, l.generation AS generation, l.attempt AS attempt,
        l.${lines} AS content
      FROM ${run} r JOIN ${log} l ON l.run_id = r.id
      WHERE ${ofKey} AND l.id > ${integer(':after')} AND l.${lines} <> '' ORDER BY l.id LIMIT 10000`,
    progress: `SELECT r.id AS id, ${last('done')}, ${last('total')} FROM ${listed(run, 'r', 'id')} TRUE`,
    delete: deleteListed(log, 'l', 'run_id'),
  };
}
