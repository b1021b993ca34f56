import type { StatementOptions } from '../../../core';
import type { ActChange, ActQuery, ActState, ActStore, NewAct, StoredAct } from '../../../ledger/act-store';
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
import { readInstant, readNow, readRequiredInstant, readText } from './run-rows';

type Texts = ReturnType<typeof actTexts>;

/** The acts of operators, or notices: both tables have the same columns. */
export class SqlActStore implements ActStore {
  /** What people call the rows that were last read, by their ids. */
  #subjects: ReadonlyMap<string, string> = new Map();
  readonly #table: VerifiedTables<(text: keyof Texts, values: Parameters) => SqlStatement>;

  constructor(options: SqlTablesOptions, table: TableDefinition) {
    this.#table = new VerifiedTables(options, [table], ([found]) =>
      statementsOn(table, found, options.dialect, actTexts),
    );
  }

  async add(act: NewAct, options: StatementOptions): Promise<boolean> {
    const [values, subject] = [valuesOf(act), subjectOf(act)];
    if (act.openKey !== undefined) await this.#send('free', { openKey: act.openKey }, options, subject);
    try {
      return await this.#writes('insert', values, options, subject);
    } catch (error) {
      if (error instanceof DuplicateRecord) return false;
      throw error;
    }
  }

  async pending(verb: string, options: StatementOptions) {
    const { rows } = await this.#send('pending', { verb }, options);
    const acts = readActs(rows);
    this.#subjects = new Map(acts.map((act) => [act.id, subjectOf(act)]));
    return { now: readNow(rows[0] ?? {}), acts };
  }

  async list(
    { verb, job, lock, scope, periodKey, since, limit }: ActQuery,
    options: StatementOptions,
  ): Promise<readonly StoredAct[]> {
    const values = { since: (since?.getTime() ?? 0) * 1000, job: job ?? null, lock: lock ?? null };
    const isOfAll = job === undefined && lock === undefined;
    const { rows } = await this.#send(isOfAll ? 'list' : 'listOf', values, options);
    const others = Object.entries({ verb, scope, periodKey }).filter(([, value]) => value !== undefined);
    const isWanted = (act: StoredAct): boolean =>
      others.every(([name, value]) => act[name as 'verb' | 'scope' | 'periodKey'] === value);
    return readActs(rows).filter(isWanted).slice(0, limit);
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
    { state, afterMs = 0, outcome }: ActChange,
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
    subject = this.#subjects.get(values.id) ?? 'an act',
  ): Promise<boolean> {
    return this.#table.hasWritten(await this.#send(text, values, options, subject), subject);
  }
}

function valuesOf(act: NewAct): Parameters & { readonly id: string } {
  const { dueInMs = 0, expiresInMs = 0, leaseMs, scope = '', state, ...others } = act;
  const { job, periodKey, lock, detail, openKey, takenBy } = others;
  const texts = { job, periodKey, lock, detail, openKey, takenBy };
  return {
    id: act.id,
    verb: act.verb,
    actor: act.actor,
    reason: act.reason,
    scope,
    state,
    ...(Object.fromEntries(
      Object.entries(texts).map(([name, value]) => [name, value ?? null]),
    ) as Parameters),
    due: microseconds(dueInMs),
    expires: microseconds(expiresInMs),
    lease: leaseMs === undefined ? null : microseconds(leaseMs),
    end: state === 'done' ? 0 : null,
  };
}

/** Durations are parameters in microseconds. */
function actTexts(definition: TableDefinition, dialect: SqlDialect, shape: TableShape) {
  const { now } = shape;
  const { us, at, after, is, orNothing, returningId } = dialect.runFragments(shape);
  const table = quotePath(definition.path, dialect);
  const select = (
    condition: string,
  ): string => `SELECT n.now_us AS now_us, ${fieldsOf(definition.columns, us)}
    FROM (SELECT ${us(now)} AS now_us) n LEFT JOIN ${table} r ON ${condition}`;
  const since = `r.at >= ${at(':since')}`;
  return {
    insert: `INSERT INTO ${table} (id, at, actor, verb, job_name, scope, period_key, lock_name, reason, detail, state,
        open_key, due_at, expires_at, taken_by, lease_until, ended_at)
      VALUES (:id, ${now}, :actor, :verb, :job, :scope, :periodKey, :lock, :reason, :detail, :state,
        :openKey, ${after(':due')}, ${after(':expires')}, :takenBy, ${after(':lease')}, ${after(':end')})
      ${orNothing('id')}${returningId}`,
    free: `UPDATE ${table} SET open_key = NULL
      WHERE ${is('open_key', ':openKey')} AND state = 'open' AND expires_at <= ${now}${returningId}`,
    pending: `${select(`r.open_key IS NOT NULL AND ${is('r.verb', ':verb')} AND (r.state = 'taken' OR r.expires_at > ${now})`)}
      ORDER BY r.due_at LIMIT 1000`,
    list: `${select(since)} ORDER BY r.at DESC LIMIT 1000`,
    listOf: `${select(`${since} AND (${is('r.job_name', ':job')} OR ${is('r.lock_name', ':lock')})`)}
      ORDER BY r.at DESC LIMIT 1000`,
    take: `UPDATE ${table} SET state = 'taken', taken_by = :owner, lease_until = ${after(':after')}, tries = tries + 1
      WHERE ${is('id', ':id')} AND ((state = 'open' AND due_at <= ${now} AND expires_at > ${now})
        OR (state = 'taken' AND lease_until <= ${now}))${returningId}`,
    change: `UPDATE ${table} SET state = :state, outcome = :outcome, lease_until = ${after(':lease')},
        due_at = COALESCE(${after(':due')}, due_at), ended_at = ${after(':end')},
        open_key = CASE WHEN ${after(':end')} IS NULL THEN open_key END
      WHERE ${is('id', ':id')} AND ${is('taken_by', ':owner')} AND state = 'taken'${returningId}`,
    purge: `DELETE FROM ${table} WHERE ended_at < ${after(':before')}
      OR (state = 'open' AND expires_at < ${after(':before')})
      OR (open_key IS NULL AND ended_at IS NULL AND lease_until < ${after(':before')})${returningId}`,
  };
}

function subjectOf({ verb, job, lock, scope }: Pick<NewAct, 'verb' | 'job' | 'lock' | 'scope'>): string {
  const what = verb === 'notice' ? 'a notice about' : `the act '${verb}' on`;
  return `${what} ${job === undefined ? `lock '${lock}'` : `job '${job}'`}${scope ? ` (${scope})` : ''}`;
}

/** Without a row, there is one without an id. */
function readActs(rows: readonly SqlRow[]): readonly StoredAct[] {
  return rows.filter(({ id }) => id !== null).map(readAct);
}

function readAct(row: SqlRow): StoredAct {
  const [verb, job, lock] = [String(row['verb']), readText(row['job_name']), readText(row['lock_name'])];
  const scope = String(row['scope']);
  const subject = subjectOf({ verb, job, lock, scope });
  return {
    id: String(row['id']),
    verb,
    job,
    scope,
    lock,
    periodKey: readText(row['period_key']),
    state: row['state'] as ActState,
    actor: String(row['actor']),
    reason: String(row['reason']),
    detail: readText(row['detail']),
    at: readRequiredInstant(row, 'at', subject),
    dueAt: readRequiredInstant(row, 'due_at', subject),
    expiresAt: readRequiredInstant(row, 'expires_at', subject),
    takenBy: readText(row['taken_by']),
    leaseUntil: readInstant(row, 'lease_until', subject),
    tries: Number(row['tries']),
    endedAt: readInstant(row, 'ended_at', subject),
    outcome: readText(row['outcome']),
  };
}
