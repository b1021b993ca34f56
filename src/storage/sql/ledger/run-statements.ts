import type { Clock } from '../../../core';
import type { Claim, Run, RunKey } from '../../../ledger/run';
import { RUN_STATES, type RunState } from '../../../ledger/run-state';
import type {
  Decision,
  FoundRun,
  NewRun,
  NewRunEvent,
  Peek,
  PeekRequest,
  PurgeRequest,
  RunQuery,
  SummaryQuery,
} from '../../../ledger/run-store';
import {
  microseconds,
  NamedStatement,
  type SqlDecide,
  type SqlResult,
  type SqlStatement,
  type SqlValue,
} from '../statements/statement';
import type { SqlDialect, TableShape } from '../dialects/sql-dialect';
import {
  asFound,
  leastPrecise,
  type InspectedTable,
  instantsIn,
  uniqueIndexOn,
} from '../schema/inspected-table';
import { RUN_KEY, type RunTables } from '../schema/tables';
import type { VerifiedTables } from '../tables/verified-tables';
import { WaitingRequests } from '../tables/waiting-requests';
import { readId, readNow, readPeek, readRun } from './run-rows';
import { runTexts, type RunTexts } from './run-texts';

const LARGEST_GROUP = 25;
/** How many requests a read has room for. */
const GROUP_SIZES = [1, 5, LARGEST_GROUP];

const NOT_STARTED = { claimedBy: undefined, lockId: undefined, fencingToken: undefined, leaseMs: undefined };

/** Instants become microseconds, and `undefined` becomes `null`. */
type RunValues = Readonly<Record<string, SqlValue | Date | undefined>>;

/** The statements for the ledger's tables as they were found, with their values. */
export class RunStatements {
  readonly #texts: RunTexts;
  readonly #named: (text: string) => NamedStatement;
  /** By how many requests they have room for. */
  readonly #peeks = new Map<number, NamedStatement>();

  constructor(dialect: SqlDialect, tables: RunTables, shape: TableShape) {
    this.#texts = runTexts(tables, dialect, shape);
    this.#named = NamedStatement.byText(dialect.placeholder);
  }

  /** @param requests at least one, each of another job or scope */
  peek(requests: readonly PeekRequest[]): SqlStatement {
    // A group that is not full repeats its last request, so that few statements are prepared.
    const size = GROUP_SIZES.find((each) => each >= requests.length) ?? requests.length;
    const peek = this.#peeks.get(size) ?? this.#named(this.#texts.peek(size));
    this.#peeks.set(size, peek);
    return peek.bindMembers(
      requests.map(({ job, scope, periodKey, since }) => ({
        job,
        scope,
        periodKey: parameterOf(periodKey),
        since: parameterOf(since),
      })),
    );
  }

  overdue(jobs: readonly string[]): SqlStatement {
    return this.#bind(this.#texts.overdue, { jobs: JSON.stringify(jobs) });
  }

  insert({ started, event: _event, ...run }: NewRun): SqlStatement {
    const { leaseMs, ...claim } = { ...NOT_STARTED, ...started };
    return this.#bind(this.#texts.insert, {
      reason: undefined,
      ...run,
      ...claim,
      leaseFor: leaseMs && microseconds(leaseMs),
      attempt: started ? 1 : 0,
      startedAfter: started && 0,
      dueAfter: run.state === 'pending' ? 0 : undefined,
    });
  }

  /** Waits for other writers of the row, and locks it until the transaction ends. */
  lock({ job, scope, periodKey }: RunKey): SqlStatement {
    return this.#bind(this.#texts.lock, { job, scope, periodKey });
  }

  write(id: number, run: Run): SqlStatement {
    return this.#bind(this.#texts.write, { ...run, id });
  }

  insertEvent(id: number, event: NewRunEvent): SqlStatement {
    return this.#bind(this.#texts.insertEvent, { at: undefined, ...event, id });
  }

  complete(claim: Claim, result: string | undefined): SqlStatement {
    return this.#bind(this.#texts.complete, { ...claim, result });
  }

  /** It finds as many runs as the limit, or up to twice as many: see `roundedUp`. */
  find(query: RunQuery): SqlStatement {
    const { job, scope, periodKey, states, from: notBefore, to: before } = query;
    const conditions = Object.entries(this.#texts.findBy) as [keyof RunTexts['findBy'], string][];
    const where = conditions
      .filter(([condition]) => query[condition] !== undefined)
      .map(([, text]) => text)
      .concat(states === undefined ? [] : isOneOf(states))
      .join(' AND ');
    const direction = query.order === 'newest-first' ? 'DESC' : 'ASC';
    const text = `${this.#texts.find}${where && ` WHERE ${where}`}
      ORDER BY COALESCE(r.period_start, r.created_at) ${direction}, r.id ${direction} LIMIT ${roundedUp(query.limit)}`;
    return this.#bind(text, { job, scope, periodKey, notBefore, before });
  }

  latest(): SqlStatement {
    return this.#bind(this.#texts.latest, {});
  }

  /** @param query with at least one job. Its limit is rounded up, as that of `find`. */
  summaries({ limit, ...query }: SummaryQuery): SqlStatement {
    return this.#ofJobs(query, (jobs) => `${this.#texts.summaries(jobs)} LIMIT ${roundedUp(limit)}`);
  }

  /** @param query with at least one job */
  counts(query: Omit<SummaryQuery, 'limit'>): SqlStatement {
    return this.#ofJobs(query, this.#texts.counts);
  }

  since(starts: ReadonlyMap<string, Date>): SqlStatement {
    const jobs = [...starts].map(([job, start]) => ({ job, since: start.getTime() * 1000 }));
    return this.#bind(this.#texts.since, { jobs: JSON.stringify(jobs) });
  }

  events({ job, scope, periodKey }: RunKey): SqlStatement {
    return this.#bind(this.#texts.events, { job, scope, periodKey });
  }

  purgeable({ olderThanMs, keptTicks }: PurgeRequest, below: number): SqlStatement {
    const { purgeable, trimmable } = this.#texts;
    const before = -microseconds(olderThanMs);
    return keptTicks === undefined
      ? this.#bind(purgeable, { before, below })
      : this.#bind(trimmable(keptTicks), { before });
  }

  lockPurgeable(olderThanMs: number, ids: readonly number[]): SqlStatement {
    const values = { before: -microseconds(olderThanMs), ids: JSON.stringify(ids) };
    return this.#bind(this.#texts.lockPurgeable, values);
  }

  /** With a mark: without it, the periods of these runs would seem missed afterwards. */
  delete(ids: readonly number[]): readonly SqlStatement[] {
    const { markPurged, deleteEvents, deleteRuns } = this.#texts;
    return [markPurged, deleteEvents, deleteRuns].map((text) =>
      this.#bind(text, { ids: JSON.stringify(ids) }),
    );
  }

  #ofJobs(
    { jobs, from: notBefore, to: before }: Omit<SummaryQuery, 'limit'>,
    textFor: (jobs: number) => string,
  ): SqlStatement {
    // A list that is not full repeats its last job, so that few statements are prepared.
    const places = Array.from({ length: roundedUp(jobs.length) }, (_, number) => number);
    const listed = places.map((number) => [`job${number}`, jobs[number] ?? jobs.at(-1)] as const);
    return this.#bind(textFor(listed.length), { ...Object.fromEntries(listed), notBefore, before });
  }

  #bind(text: string, values: RunValues): SqlStatement {
    const parameters = Object.entries(values).map(([name, value]) => [name, parameterOf(value)] as const);
    return this.#named(text).bind(Object.fromEntries(parameters));
  }
}

/** @param found the table of the runs and that of their events, both without errors */
export function runStatementsFor(
  found: readonly InspectedTable[],
  { dialect, tables }: { readonly dialect: SqlDialect; readonly tables: RunTables },
): RunStatements | undefined {
  const [run, event] = found;
  const { inspection } = dialect;
  const instant = leastPrecise([
    ...instantsIn(tables.run, run, inspection),
    ...instantsIn(tables.event, event, inspection),
  ]);
  const keyIndex = uniqueIndexOn(RUN_KEY, run?.indexes ?? [])?.name;
  if (!instant || !run || !event || keyIndex === undefined) return undefined;
  const shape = { now: inspection.now(instant), keyIndex };
  const both = { run: asFound(tables.run, run), event: asFound(tables.event, event) };
  return new RunStatements(dialect, both, shape);
}

/** Reads the runs of several jobs in one statement, if their requests wait for a connection. */
export function waitingPeeks(tables: VerifiedTables<RunStatements>, clock: Clock) {
  return new WaitingRequests<PeekRequest, Peek, RunStatements>(tables, {
    clock,
    subjectOf: ({ job }) => `the runs of job '${job}'`,
    companions(first, others) {
      const byScope = new Map(others.map((request) => [scopeOf(request), request]));
      byScope.delete(scopeOf(first));
      return [...byScope.values()].slice(0, LARGEST_GROUP - 1);
    },
    async answersTo(group, send, statements) {
      const { rows } = await send(statements.peek(group));
      return group.map((request, number) => readPeek(rows, request, number));
    },
  });
}

/** Two requests for the same job and scope would get each other's runs. */
function scopeOf({ job, scope }: PeekRequest): string {
  return JSON.stringify([job, scope]);
}

export function foundRunOf({ rows: [row] }: SqlResult): FoundRun | undefined {
  return row && { run: readRun(row), now: readNow(row) };
}

export function insertedId({ rows: [row], insertId }: SqlResult, subject: string): number {
  return readId({ id: row?.['id'] ?? insertId }, subject);
}

export function changeOf<T>(
  { rows: [row] }: SqlResult,
  { value, write, events = [] }: Decision<T>,
  { of, subject }: { readonly of: RunStatements; readonly subject: string },
): ReturnType<SqlDecide<T>> {
  if (row === undefined) return { value, statements: [] };
  const id = readId(row, subject);
  const written = write === undefined ? [] : [of.write(id, write)];
  return { value, statements: [...written, ...events.map((event) => of.insertEvent(id, event))] };
}

function parameterOf(value: RunValues[string]): SqlValue {
  if (!(value instanceof Date)) return value ?? null;
  const us = value.getTime() * 1000;
  if (Number.isSafeInteger(us)) return us;
  throw new RangeError(
    `Cannot store ${String(value)} in a run: instants must be valid and before the year 2255.`,
  );
}

/** With the states in the text, each database uses the index on them. Only states that exist get into the text. */
function isOneOf(states: readonly RunState[]): string {
  const listed = RUN_STATES.filter((state) => states.includes(state)).map((state) => `'${state}'`);
  return listed.length === 0 ? '1 = 0' : `state IN (${listed.join(', ')})`;
}

/**
 * Rounds up to a power of two. The limit is part of the text, because MySQL refuses a limit that is sent as a double.
 * The server keeps a prepared statement for each text.
 */
function roundedUp(limit: number): number {
  if (Number.isSafeInteger(limit) && limit >= 0) return 2 ** Math.ceil(Math.log2(Math.max(1, limit)));
  throw new RangeError(`Cannot find runs with limit ${limit}: it must be a whole number of at least 0.`);
}
