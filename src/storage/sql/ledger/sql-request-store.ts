import type { StatementOptions } from '../../../core';
import type {
  NewRequest,
  RequestChange,
  RequestState,
  RequestStore,
  StoredRequest,
} from '../../../ledger/request-store';
import { DuplicateRecord } from '../statements/sql-failure';
import {
  microseconds,
  type Parameters,
  type SqlResult,
  type SqlRow,
  type SqlStatement,
} from '../statements/statement';
import { quotePath, type SqlDialect, type TableShape } from '../dialects/sql-dialect';
import type { TableDefinition } from '../schema/table-definition';
import { VerifiedTables, type SqlTablesOptions } from '../tables/verified-tables';
import { fieldsOf, statementsOn } from './job-statements';
import { readInstant, readNow, readRequiredInstant, readScope, readText } from './run-rows';

type Texts = ReturnType<typeof requestTexts>;

export class SqlRequestStore implements RequestStore {
  /** What people call the requests that were last read, by their ids. */
  #subjects: ReadonlyMap<string, string> = new Map();
  readonly #table: VerifiedTables<(text: keyof Texts, values: Parameters) => SqlStatement>;

  constructor(options: SqlTablesOptions & { readonly requestTable: TableDefinition }) {
    const { requestTable, dialect } = options;
    this.#table = new VerifiedTables(options, [requestTable], ([found]) =>
      statementsOn(requestTable, found, dialect, requestTexts),
    );
  }

  async add(
    request: NewRequest,
    { replaces = false, ...options }: StatementOptions & { readonly replaces?: boolean | undefined },
  ): Promise<boolean> {
    const { dueInMs, expiresInMs, periodKey: key, ...others } = request;
    const [due, expires] = [microseconds(dueInMs), microseconds(expiresInMs)];
    const values: Parameters & { readonly id: string } = { ...others, periodKey: key ?? null, due, expires };
    const subject = subjectOf(request);
    if (replaces && (await this.#writes('replace', values, options, subject))) return true;
    try {
      return await this.#writes('insert', values, options, subject);
    } catch (error) {
      if (error instanceof DuplicateRecord) return false;
      throw error;
    }
  }

  async pending(options: StatementOptions) {
    const { rows } = await this.#send('pending', {}, options);
    const requests = readRequests(rows);
    this.#subjects = new Map(requests.map((request) => [request.id, subjectOf(request)]));
    return { now: readNow(rows[0] ?? {}), requests };
  }

  async find(id: string, options: StatementOptions): Promise<StoredRequest | undefined> {
    return readRequests((await this.#send('find', { id }, options)).rows)[0];
  }

  take(
    id: string,
    { owner, leaseMs }: { readonly owner: string; readonly leaseMs: number },
    options: StatementOptions,
  ): Promise<boolean> {
    return this.#writes('take', { id, owner, after: microseconds(leaseMs) }, options);
  }

  change(
    id: string,
    owner: string,
    { state, afterMs = 0, outcome }: RequestChange,
    options: StatementOptions,
  ): Promise<boolean> {
    const after = microseconds(afterMs);
    const values = {
      id,
      owner,
      state,
      outcome: outcome ?? null,
      lease: state === 'taken' ? after : null,
      due: state === 'open' ? after : null,
      end: state === 'taken' || state === 'open' ? null : 0,
    };
    return this.#writes('change', values, options);
  }

  async purge(olderThanMs: number, options: StatementOptions): Promise<void> {
    await this.#send('purge', { before: -microseconds(olderThanMs) }, options);
  }

  async #send(
    text: keyof Texts,
    values: Parameters,
    { timeoutMs }: StatementOptions,
    subject?: string,
  ): Promise<SqlResult> {
    return (await this.#table.send((bind) => bind(text, values), { timeoutMs }, subject)).result;
  }

  async #writes(
    text: keyof Texts,
    values: Parameters & { readonly id: string },
    options: StatementOptions,
    subject = this.#subjects.get(values.id) ?? 'a request',
  ): Promise<boolean> {
    return this.#table.hasWritten(await this.#send(text, values, options, subject), subject);
  }
}

/** Durations are parameters in microseconds. */
function requestTexts(definition: TableDefinition, dialect: SqlDialect, shape: TableShape) {
  const { now } = shape;
  const { us, after, is, orNothing, returningId } = dialect.runFragments(shape);
  const table = quotePath(definition.path, dialect);
  const select = (
    condition: string,
  ): string => `SELECT n.now_us AS now_us, ${fieldsOf(definition.columns, us)}
    FROM (SELECT ${us(now)} AS now_us) n LEFT JOIN ${table} r ON ${condition}`;
  return {
    insert: `INSERT INTO ${table} (id, kind, job_name, scope, period_key, state, actor, reason, created_at, due_at, expires_at)
      VALUES (:id, :kind, :job, :scope, :periodKey, 'open', :actor, :reason, ${now}, ${after(':due')}, ${after(':expires')})
      ${orNothing('id')}${returningId}`,
    replace: `UPDATE ${table}
      SET period_key = :periodKey, state = 'open', actor = :actor, reason = :reason, created_at = ${now},
        due_at = ${after(':due')}, expires_at = ${after(':expires')}, taken_by = NULL, lease_until = NULL, attempt = 0,
        ended_at = NULL, outcome = NULL
      WHERE ${is('id', ':id')} AND (ended_at IS NOT NULL OR (state = 'open' AND expires_at <= ${now}))${returningId}`,
    pending: `${select(`r.state = 'taken' OR (r.state = 'open' AND r.expires_at > ${now})`)} ORDER BY r.due_at LIMIT 1000`,
    find: select(is('r.id', ':id')),
    take: `UPDATE ${table} SET state = 'taken', taken_by = :owner, lease_until = ${after(':after')}, attempt = attempt + 1
      WHERE ${is('id', ':id')} AND ((state = 'open' AND due_at <= ${now} AND expires_at > ${now})
        OR (state = 'taken' AND lease_until <= ${now}))${returningId}`,
    change: `UPDATE ${table} SET state = :state, outcome = :outcome, lease_until = ${after(':lease')},
        due_at = COALESCE(${after(':due')}, due_at), ended_at = ${after(':end')}
      WHERE ${is('id', ':id')} AND ${is('taken_by', ':owner')} AND state = 'taken'${returningId}`,
    purge: `DELETE FROM ${table} WHERE kind = 'notice' AND ended_at < ${after(':before')}${returningId}`,
  };
}

function subjectOf({ kind, job, scope }: Pick<StoredRequest, 'kind' | 'job' | 'scope'>): string {
  const what = kind === 'notice' ? 'a notice about' : 'the request to run';
  return `${what} job '${job}'${scope === '' ? '' : ` (${scope})`}`;
}

/** Without a request, there is one row without an id. */
function readRequests(rows: readonly SqlRow[]): readonly StoredRequest[] {
  return rows.filter(({ id }) => id !== null).map(readRequest);
}

function readRequest(row: SqlRow): StoredRequest {
  const kind = row['kind'] as StoredRequest['kind'];
  const { job, scope } = readScope(row);
  const subject = subjectOf({ kind, job, scope });
  return {
    id: String(row['id']),
    kind,
    job,
    scope,
    periodKey: readText(row['period_key']),
    state: row['state'] as RequestState,
    actor: String(row['actor']),
    reason: String(row['reason']),
    createdAt: readRequiredInstant(row, 'created_at', subject),
    dueAt: readRequiredInstant(row, 'due_at', subject),
    expiresAt: readRequiredInstant(row, 'expires_at', subject),
    takenBy: readText(row['taken_by']),
    leaseUntil: readInstant(row, 'lease_until', subject),
    attempt: Number(row['attempt']),
    endedAt: readInstant(row, 'ended_at', subject),
    outcome: readText(row['outcome']),
  };
}
