import type { Claim, Run, RunKey } from '../../../ledger/run';
import { RUN_STATES, type RunState } from '../../../ledger/run-state';
import type {
  Decision,
  FoundRun,
  NewRun,
  NewRunEvent,
  PeekRequest,
  RunQuery,
} from '../../../ledger/run-store';
import {
  microseconds,
  NamedStatement,
  type Parameters,
  type SqlDecision,
  type SqlResult,
  type SqlStatement,
  type SqlValue,
} from '../connections/sql-executor';
import type { RunTableShape, SqlDialect } from '../dialects/sql-dialect';
import { foundPath, leastPrecise } from '../schema/inspected-table';
import { RUN_KEY, runTableDefinitions, type RunTables } from '../schema/run-tables';
import { columnPairs, uniqueIndexOn, type FoundTable } from '../schema/verify-table';
import { readId, readNow, readRun } from './run-rows';
import { runTexts, type RunCondition, type RunTexts } from './run-texts';

const GROUP_SIZES = [5, 25];

/** The statements for the ledger's tables as they were found, with their values. */
export class RunStatements {
  readonly #dialect: SqlDialect;
  readonly #texts: RunTexts;
  readonly #overridesClock: boolean;
  /** By text. There are few different ones. */
  readonly #named = new Map<string, NamedStatement>();

  constructor(dialect: SqlDialect, tables: RunTables, shape: RunTableShape) {
    this.#dialect = dialect;
    this.#overridesClock = shape.overridesClock;
    this.#texts = runTexts(tables, dialect, shape);
  }

  peek({ job, scope, periodKey, since }: PeekRequest): SqlStatement {
    const parameters = { job, scope, periodKey: periodKey ?? null, since: instantParameter(since) };
    return this.#bind(this.#texts.peek, parameters);
  }

  /** Its rows have the number of their request as `member`. */
  peekGroup(requests: readonly PeekRequest[]): SqlStatement {
    // A group that is not full repeats its last request, so that few statements are prepared.
    const size = GROUP_SIZES.find((each) => each >= requests.length) ?? requests.length;
    const parameters: Record<string, SqlValue> = {};
    const texts = Array.from({ length: size }, (_, number) => {
      const { job, scope, periodKey, since } = requests[Math.min(number, requests.length - 1)] ?? {};
      parameters[`job${number}`] = job ?? '';
      parameters[`scope${number}`] = scope ?? '';
      parameters[`periodKey${number}`] = periodKey ?? null;
      parameters[`since${number}`] = instantParameter(since);
      const ofMember = this.#texts.peek.replace(/:(job|scope|periodKey|since)\b/g, `:$1${number}`);
      return `(${ofMember.replace('SELECT', `SELECT ${number} AS member,`)})`;
    });
    return this.#bind(texts.join(' UNION ALL '), parameters);
  }

  overdue(jobs: readonly string[]): SqlStatement {
    return this.#bind(this.#texts.overdue, { jobs: JSON.stringify(jobs) });
  }

  insert(run: NewRun): SqlStatement {
    const { started } = run;
    return this.#bind(this.#texts.insert, {
      ...keyParameters(run),
      periodStart: instantParameter(run.periodStart),
      periodEnd: instantParameter(run.periodEnd),
      timeZone: run.timeZone ?? null,
      state: run.state,
      attempt: started ? 1 : 0,
      dueAfter: run.state === 'pending' ? 0 : null,
      claimedBy: started?.claimedBy ?? null,
      lockId: started?.lockId ?? null,
      fencingToken: started?.fencingToken ?? null,
      leaseFor: started ? microseconds(started.leaseMs) : null,
      startedAfter: started ? 0 : null,
      reason: run.reason ?? null,
    });
  }

  /** Waits for other writers of the row, and locks it until the transaction ends. */
  lock(key: RunKey): SqlStatement {
    return this.#bind(this.#texts.lock, keyParameters(key));
  }

  write(id: number, run: Run): SqlStatement {
    return this.#bind(this.#texts.write, {
      id,
      state: run.state,
      generation: run.generation,
      attempt: run.attempt,
      nextAttemptAt: instantParameter(run.nextAttemptAt),
      claimedBy: run.claimedBy ?? null,
      lockId: run.lockId ?? null,
      fencingToken: run.fencingToken ?? null,
      leaseUntil: instantParameter(run.leaseUntil),
      firstStartedAt: instantParameter(run.firstStartedAt),
      startedAt: instantParameter(run.startedAt),
      finishedAt: instantParameter(run.finishedAt),
      reason: run.reason ?? null,
      result: run.result ?? null,
      error: run.error ?? null,
    });
  }

  insertEvent(id: number, event: NewRunEvent): SqlStatement {
    return this.#bind(this.#texts.insertEvent, {
      id,
      generation: event.generation,
      attempt: event.attempt,
      kind: event.kind,
      actor: event.actor,
      fencingToken: event.fencingToken ?? null,
      detail: event.detail ?? null,
    });
  }

  complete(claim: Claim, result: string | undefined): SqlStatement {
    const { generation, attempt, claimedBy } = claim;
    const parameters = { ...keyParameters(claim), generation, attempt, claimedBy, result: result ?? null };
    return this.#bind(this.#texts.complete, parameters);
  }

  /** It finds as many runs as the limit, or up to twice as many: see `roundedUp`. */
  find(query: RunQuery): SqlStatement {
    const { states } = query;
    const conditions = Object.entries(this.#texts.findBy) as [RunCondition, string][];
    const where = conditions
      .filter(([condition]) => query[condition] !== undefined)
      .map(([, text]) => text)
      .concat(states === undefined ? [] : isOneOf(states))
      .join(' AND ');
    const direction = query.order === 'newest-first' ? 'DESC' : 'ASC';
    const text = `${this.#texts.find}${where && ` WHERE ${where}`}
      ORDER BY COALESCE(r.period_start, r.created_at) ${direction}, r.id ${direction} LIMIT ${roundedUp(query.limit)}`;
    return this.#bind(text, {
      job: query.job ?? null,
      scope: query.scope ?? null,
      periodKey: query.periodKey ?? null,
      notBefore: instantParameter(query.from),
      before: instantParameter(query.to),
    });
  }

  latest(): SqlStatement {
    return this.#bind(this.#texts.latest, {});
  }

  events(key: RunKey): SqlStatement {
    return this.#bind(this.#texts.events, keyParameters(key));
  }

  purgeable(olderThanMs: number, below: number): SqlStatement {
    return this.#bind(this.#texts.purgeable, { before: -microseconds(olderThanMs), below });
  }

  lockPurgeable(olderThanMs: number, ids: readonly number[]): SqlStatement {
    return this.#bind(this.#texts.lockPurgeable, {
      before: -microseconds(olderThanMs),
      lowest: Math.min(...ids),
      highest: Math.max(...ids),
    });
  }

  /** @param hasPeriods whether a run has a period. Without a mark, its period would seem missed afterwards. */
  delete(ids: readonly number[], { hasPeriods }: { readonly hasPeriods: boolean }): readonly SqlStatement[] {
    const parameters = { ids: JSON.stringify(ids) };
    const { markPurged, deleteEvents, deleteRuns } = this.#texts;
    const texts = hasPeriods ? [markPurged, deleteEvents, deleteRuns] : [deleteEvents, deleteRuns];
    return texts.map((text) => this.#bind(text, parameters));
  }

  #bind(text: string, parameters: Parameters): SqlStatement {
    const existing = this.#named.get(text);
    const named = existing ?? new NamedStatement(this.#withServerClock(text), this.#dialect.placeholder);
    if (existing === undefined) this.#named.set(text, named);
    return named.bind(parameters);
  }

  #withServerClock(text: string): string {
    const { byServerClock } = this.#dialect;
    return this.#overridesClock && byServerClock ? byServerClock(text) : text;
  }
}

/** @param found the table of the runs and that of their events, both without errors */
export function runStatementsFor(
  found: readonly FoundTable[],
  { dialect, tables }: { readonly dialect: SqlDialect; readonly tables: RunTables },
): RunStatements | undefined {
  const instants = runTableDefinitions(tables).flatMap((definition, position) => {
    const pairs = columnPairs(definition, found[position] ?? { columns: [] }, dialect);
    return pairs.flatMap((pair) => (pair.column.kind.is === 'instant' && pair.found ? [pair.found] : []));
  });
  const instant = leastPrecise(instants);
  const [run, event] = found;
  const keyIndex = uniqueIndexOn(RUN_KEY, run?.indexes ?? [])?.name;
  if (!instant || !run || !event || keyIndex === undefined) return undefined;
  const shape = {
    now: dialect.inspection.now(instant),
    keyIndex,
    overridesClock: run.hasSessionClock ?? false,
  };
  const paths = { run: foundPath(tables.run, run), event: foundPath(tables.event, event) };
  return new RunStatements(dialect, { ...tables, ...paths }, shape);
}

/** Reads the result of `lock`. */
export function foundRunOf({ rows: [row] }: SqlResult): FoundRun | undefined {
  return row && { run: readRun(row), now: readNow(row) };
}

export function insertedId({ rows: [row], insertId }: SqlResult, subject: string): number {
  return readId({ id: row?.['id'] ?? insertId }, subject);
}

/** Writes a decision. */
export function changeOf<T>(
  { rows: [row] }: SqlResult,
  { value, write, events = [] }: Decision<T>,
  { of, subject }: { readonly of: RunStatements; readonly subject: string },
): SqlDecision<T> {
  if (row === undefined) return { value, statements: [] };
  const id = readId(row, subject);
  const written = write === undefined ? [] : [of.write(id, write)];
  return { value, statements: [...written, ...events.map((event) => of.insertEvent(id, event))] };
}

function keyParameters({ job, scope, periodKey }: RunKey): Parameters {
  return { job, scope, periodKey };
}

function instantParameter(instant: Date | undefined): number | null {
  if (instant === undefined) return null;
  const us = instant.getTime() * 1000;
  if (Number.isSafeInteger(us)) return us;
  throw new RangeError(
    `Cannot store ${String(instant)} in a run: instants must be valid and before the year 2255.`,
  );
}

/** With the states in the text, each database uses the index on them. Only states that exist get into the text. */
function isOneOf(states: readonly RunState[]): string {
  const listed = RUN_STATES.filter((state) => states.includes(state)).map((state) => `'${state}'`);
  return listed.length === 0 ? '1 = 0' : `state IN (${listed.join(', ')})`;
}

/**
 * Rounds up to a power of two. The limit is part of the text, because MySQL refuses one from a driver that sends every
 * number as a double, and the server keeps a prepared statement for each text.
 */
function roundedUp(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 0) return 2 ** Math.ceil(Math.log2(Math.max(1, limit)));
  throw new RangeError(`Cannot find runs with limit ${limit}: it must be a whole number of at least 0.`);
}
