import {
  ClaimLostError,
  LockStorageError,
  SchemaMismatchError,
  type Clock,
  type StatementOptions,
} from '../../../core';
import type { JobAnswer, JobRegister, JobRegistration } from '../../../ledger/job-register';
import { describeRun } from '../../../ledger/run';
import type { Claim, LatestRun, Run, RunCount, RunEvent, RunKey, RunSummary } from '../../../ledger/run';
import type {
  Decision,
  FoundRun,
  NewRun,
  OverdueScope,
  Peek,
  PeekRequest,
  PurgeRequest,
  PurgeStep,
  RunQuery,
  RunStore,
  SummaryQuery,
} from '../../../ledger/run-store';
import {
  microseconds,
  type NodeWait,
  type Parameters,
  type Priority,
  type SqlDecide,
  type SqlResult,
  type SqlStatement,
} from '../statements/statement';
import type { SqlDatabase } from '../connections/sql-database';
import { DuplicateRecord } from '../statements/sql-failure';
import type { TableDefinition } from '../schema/table-definition';
import type { RunTables } from '../schema/tables';
import { VerifiedTables, type SqlTablesOptions } from '../tables/verified-tables';
import { answeredJson, jobTexts, readJobs, registeredJson, statementsOn } from './job-statements';
import { PurgeWalk } from './purge-walk';
import { SqlActStore } from './sql-act-store';
import { SqlRunLogs } from './sql-run-logs';
import {
  readCount,
  readEvent,
  readId,
  readPeek,
  readRun,
  readScope,
  readSummary,
  readText,
} from './run-rows';
import {
  changeOf,
  foundRunOf,
  insertedId,
  runStatementsFor,
  waitingPeeks,
  type RunStatements,
} from './run-statements';

export interface SqlRunStoreOptions extends SqlDatabase, SqlTablesOptions {
  readonly tables: RunTables;
  readonly jobTable: TableDefinition;
  readonly actTable: TableDefinition;
  readonly noticeTable: TableDefinition;
  readonly logTable: TableDefinition;
  /** For calls without a limit of their own. */
  readonly statementTimeoutMs: number;
  /** One statement reads the runs of several jobs if their requests wait for a connection, by this clock. */
  readonly groupingClock?: Clock | undefined;
}

type JobText = keyof ReturnType<typeof jobTexts>;

/** @throws ClaimLostError if the database that holds the claim can no longer be used */
export function refuseLoss({ findLoss }: Pick<SqlDatabase, 'findLoss'>, key: RunKey | Claim): void {
  const loss = findLoss?.();
  if (loss === undefined || !('generation' in key)) return;
  throw new ClaimLostError(`Cannot complete ${describeRun(key)}: ${loss.message}.`);
}

/** Keeps runs in two SQL tables, and the register of jobs in a third one. */
export class SqlRunStore implements RunStore {
  readonly acts: SqlActStore;
  readonly notices: SqlActStore;
  /** @internal */
  readonly database: SqlDatabase;
  readonly logs: SqlRunLogs;
  readonly #options: SqlRunStoreOptions;
  readonly #tables: VerifiedTables<RunStatements>;
  readonly #jobs: VerifiedTables<(text: JobText, values: Parameters) => SqlStatement>;
  readonly #peeks: ReturnType<typeof waitingPeeks> | undefined;

  constructor(options: SqlRunStoreOptions) {
    this.database = options;
    this.#options = options;
    this.logs = new SqlRunLogs(options);
    const { jobTable, tables, groupingClock } = options;
    this.acts = new SqlActStore(options, options.actTable);
    this.notices = new SqlActStore(options, options.noticeTable);
    this.#jobs = new VerifiedTables(options, [jobTable], ([found]) =>
      statementsOn(jobTable, found, options.dialect, jobTexts),
    );
    const both = [tables.run, tables.event] as const;
    this.#tables = new VerifiedTables(options, both, (found) => runStatementsFor(found, options));
    this.#peeks = groupingClock && waitingPeeks(this.#tables, groupingClock);
  }

  /** @internal For transactions of the application. If the servers are set to wait, nothing is sent: they may refuse it. */
  get nodeWait(): NodeWait | undefined {
    const { nodeWait } = this.#options.connections;
    return nodeWait?.isSet ? undefined : nodeWait;
  }

  async peek(request: PeekRequest, options: StatementOptions): Promise<Peek> {
    if (this.#peeks?.isFree === false) return await this.#peeks.send(request, options);
    const subject = `the runs of job '${request.job}'`;
    const { rows } = await this.#execute((of) => of.peek([request]), options, subject);
    return readPeek(rows, request);
  }

  async overdue(jobs: readonly string[], options: StatementOptions): Promise<readonly OverdueScope[]> {
    return (await this.#execute((of) => of.overdue(jobs), options)).rows.map(readScope);
  }

  async insert(run: NewRun, options: StatementOptions): Promise<boolean> {
    const subject = describeRun(run);
    const { event } = run;
    try {
      if (event === undefined) {
        const result = await this.#execute((of) => of.insert(run), options, subject, 'holder');
        return this.#tables.hasWritten(result, subject);
      }
      return await this.#transaction(options, subject, (of) => [
        of.insert(run),
        (result) => {
          if (!this.#tables.hasWritten(result, subject)) return { value: false, statements: [] };
          return { value: true, statements: [of.insertEvent(insertedId(result, subject), event)] };
        },
      ]);
    } catch (error) {
      if (!(error instanceof DuplicateRecord)) throw error;
      await this.#refuseCollision(run, options);
      return false;
    }
  }

  async change<T>(
    key: RunKey,
    decide: (found: FoundRun | undefined) => Decision<T>,
    options: StatementOptions,
  ): Promise<T> {
    const subject = describeRun(key);
    refuseLoss(this.#options, key);
    return await this.#transaction(options, subject, (of) => [
      of.lock(key),
      (result) => changeOf(result, decide(foundRunOf(result)), { of, subject }),
    ]).catch((error: unknown) => {
      throw error instanceof DuplicateRecord ? this.#collisionError(subject) : error;
    });
  }

  async complete(claim: Claim, outcome: string | undefined, options: StatementOptions): Promise<boolean> {
    const subject = describeRun(claim);
    refuseLoss(this.#options, claim);
    const statement = (of: RunStatements): SqlStatement => of.complete(claim, outcome);
    // The outcome of a finished run must not wait behind claims of new ones.
    const result = await this.#execute(statement, options, subject, 'lease');
    return this.#tables.hasWritten(result, subject);
  }

  async find(query: RunQuery, options: StatementOptions): Promise<readonly Run[]> {
    return (await this.#execute((of) => of.find(query), options)).rows.slice(0, query.limit).map(readRun);
  }

  async latest(options: StatementOptions): Promise<readonly LatestRun[]> {
    const { rows } = await this.#execute((of) => of.latest(), options);
    const running = rows.filter(({ state }) => state === 'running').map((row) => readId(row));
    const progress = running.length > 0 ? await this.logs.progress(running, options) : undefined;
    return rows.map((row) => ({
      ...readSummary(row),
      error: readText(row['error']),
      ...progress?.get(readId(row)),
    }));
  }

  async summaries(query: SummaryQuery, options: StatementOptions): Promise<readonly RunSummary[]> {
    if (query.jobs.length === 0) return [];
    const { rows } = await this.#execute((of) => of.summaries(query), options);
    return rows.slice(0, query.limit).map(readSummary);
  }

  async counts(query: Omit<SummaryQuery, 'limit'>, options: StatementOptions): Promise<readonly RunCount[]> {
    if (query.jobs.length === 0) return [];
    return (await this.#execute((of) => of.counts(query), options)).rows.map(readCount);
  }

  async since(starts: ReadonlyMap<string, Date>, options: StatementOptions): Promise<readonly RunSummary[]> {
    if (starts.size === 0) return [];
    return (await this.#execute((of) => of.since(starts), options)).rows.map(readSummary);
  }

  async events(key: RunKey, options: StatementOptions): Promise<readonly RunEvent[]> {
    const { rows } = await this.#execute((of) => of.events(key), options, describeRun(key));
    return rows.map((row) => readEvent(row, `the history of ${describeRun(key)}`));
  }

  async purge(request: PurgeRequest, options: StatementOptions): Promise<PurgeStep> {
    const { olderThanMs, keptTicks, limit, from } = request;
    const walk = from instanceof PurgeWalk ? from : new PurgeWalk(await this.logs.deletion(options));
    const { rows } = await this.#execute((of) => of.purgeable(request, walk.below), options);
    const { ids, next } = walk.plan(rows, limit);
    if (ids.length === 0) return { deleted: 0, next };
    const plan = (of: RunStatements) => walk.deletion(ids, olderThanMs, of);
    const deleted = await this.#transaction(options, undefined, plan);
    // If all old ticks are locked, the next step would find the same ones again.
    return { deleted, next: keptTicks !== undefined && deleted === 0 ? undefined : next };
  }

  async registerJobs(jobs: readonly JobRegistration[], options: StatementOptions): Promise<void> {
    if (jobs.length > 0) await this.#onJobs('register', { jobs: registeredJson(jobs) }, options);
  }

  async jobs(options: StatementOptions): Promise<JobRegister> {
    return readJobs((await this.#onJobs('list', {}, options)).rows);
  }

  async answerJobs(answers: readonly JobAnswer[], options: StatementOptions): Promise<void> {
    if (answers.length > 0) await this.#onJobs('answer', { jobs: answeredJson(answers) }, options);
  }

  async forgetJob(job: string, idleMs: number, options: StatementOptions): Promise<boolean> {
    const result = await this.#onJobs('forget', { job, idle: -microseconds(idleMs) }, options);
    return this.#tables.hasWritten(result, `job '${job}' in the register of jobs`);
  }

  /**
   * @throws SchemaMismatchError listing every problem with its fix
   * @throws LockStorageError if the database cannot be reached. The message contains its address.
   */
  async check(): Promise<void> {
    await this.#tables.check({ timeoutMs: this.#options.statementTimeoutMs });
  }

  /** @internal The statements for a transaction of the application. */
  async statements({ timeoutMs }: StatementOptions): Promise<RunStatements> {
    return await this.#tables.statements({ timeoutMs });
  }

  /**
   * @internal The same for a driver that cannot wait. Claiming the run has verified the tables.
   * @throws LockStorageError if a table has changed since
   */
  get verifiedStatements(): RunStatements {
    if (this.#tables.verified !== undefined) return this.#tables.verified;
    throw new LockStorageError(
      `The tables of the run ledger have changed since they were last verified. The next attempt verifies them again.`,
      { outcome: 'nothing-ran' },
    );
  }

  #execute(
    statement: (of: RunStatements) => SqlStatement,
    { timeoutMs }: StatementOptions,
    subject?: string,
    priority?: Priority,
  ): Promise<SqlResult> {
    return this.#tables.send(statement, { timeoutMs, priority }, subject).then(({ result }) => result);
  }

  async #onJobs(text: JobText, values: Parameters, { timeoutMs }: StatementOptions): Promise<SqlResult> {
    const limits = { timeoutMs };
    return (await this.#jobs.send((bind) => bind(text, values), limits, 'the register of jobs')).result;
  }

  /** Never of a lease, because it may wait for a row: claims must not delay the renewal of leases. */
  async #transaction<T>(
    { timeoutMs }: StatementOptions,
    subject: string | undefined,
    plan: (of: RunStatements) => readonly [SqlStatement, SqlDecide<T>],
  ): Promise<T> {
    const planned = plan(await this.statements({ timeoutMs }));
    return await this.#tables.transaction(planned, { timeoutMs, priority: 'holder' }, subject);
  }

  /**
   * The existing row may belong to another run. Mistaking it for this run would mean that this run never happens. It
   * reads with a lock, because a replica may answer a plain read before it has the row.
   */
  async #refuseCollision(key: RunKey, options: StatementOptions): Promise<void> {
    const subject = describeRun(key);
    const { rows } = await this.#execute((of) => of.lock(key), options, subject, 'holder');
    if (rows.length === 0) throw this.#collisionError(subject);
  }

  #collisionError(subject: string): SchemaMismatchError {
    return new SchemaMismatchError(
      `Could not write ${subject}: it collides with another row of table '${this.#options.tables.run.path.join('.')}'. Drop any additional unique index from the table. On a cluster, another server may not have applied the row yet: connect all instances to the same server.`,
      { outcome: 'nothing-ran' },
    );
  }
}
