import { LockStorageError } from '../../../core';
import { describeValue } from '../../../core/describe-value';
import type { OverdueScope, Peek } from '../../../ledger/run-store';
import type { Run, RunEvent, RunEventKind, RunSummary } from '../../../ledger/run';
import type { RunState } from '../../../ledger/run-state';
import type { SqlResult } from '../connections/sql-executor';

type Row = SqlResult['rows'][number];

const SUMMARY_VALUES = [
  ...['id', 'job_name', 'scope', 'period_key', 'time_zone', 'state', 'generation', 'attempt'],
  ...['claimed_by', 'lock_id', 'fencing_token', 'reason'],
];
const SUMMARY_INSTANTS = [
  ...['period_start', 'period_end', 'next_attempt_at', 'lease_until', 'first_started_at', 'started_at'],
  ...['finished_at', 'created_at', 'updated_at'],
];

/**
 * The fields that a statement must select for `readSummary`, from the run table as `r`.
 *
 * @param us converts an instant to whole microseconds since 1970
 */
export function summaryFields(us: (instant: string) => string): string {
  const instants = SUMMARY_INSTANTS.map((name) => `${us(`r.${name}`)} AS ${name}`);
  return [...SUMMARY_VALUES.map((name) => `r.${name} AS ${name}`), ...instants].join(', ');
}

/** The same for `readRun`. */
export function runFields(us: (instant: string) => string): string {
  return `${summaryFields(us)}, r.result AS result, r.error AS error`;
}

/** Even without any run there is one row, which has the time. */
export function readPeek(rows: readonly Row[]): Peek {
  const [first = {}] = rows;
  return {
    now: readNow(first),
    runs: rows.filter(({ id }) => id !== null).map(readSummary),
    firstPeriodStart: readInstant(first['first_us']),
  };
}

export function readNow(row: Row): Date {
  const now = readInstant(row['now_us']);
  if (now !== undefined) return now;
  throw new LockStorageError('The database returned no current time for a statement on the run ledger.');
}

export function readScope(row: Row): OverdueScope {
  return { job: String(row['job_name']), scope: String(row['scope']) };
}

export function readRun(row: Row): Run {
  return { ...readSummary(row), result: readText(row['result']), error: readText(row['error']) };
}

export function readEvent(row: Row): RunEvent {
  return {
    at: readRequiredInstant(row, 'at'),
    generation: Number(row['generation']),
    attempt: Number(row['attempt']),
    kind: row['kind'] as RunEventKind,
    actor: String(row['actor']),
    fencingToken: readInteger(row['fencing_token']),
    detail: readText(row['detail']),
  };
}

/** Drivers return an id as number, string or bigint. */
export function readId(value: unknown): number {
  const id = readInteger(value);
  if (id !== undefined) return id;
  throw new LockStorageError('The database returned no id for a run.');
}

function readSummary(row: Row): RunSummary {
  return {
    ...readKey(row),
    periodStart: readInstant(row['period_start']),
    periodEnd: readInstant(row['period_end']),
    timeZone: readText(row['time_zone']),
    state: row['state'] as RunState,
    generation: Number(row['generation']),
    attempt: Number(row['attempt']),
    nextAttemptAt: readInstant(row['next_attempt_at']),
    claimedBy: readText(row['claimed_by']),
    lockId: readText(row['lock_id']),
    fencingToken: readInteger(row['fencing_token']),
    leaseUntil: readInstant(row['lease_until']),
    firstStartedAt: readInstant(row['first_started_at']),
    startedAt: readInstant(row['started_at']),
    finishedAt: readInstant(row['finished_at']),
    reason: readText(row['reason']),
    createdAt: readRequiredInstant(row, 'created_at'),
    updatedAt: readRequiredInstant(row, 'updated_at'),
  };
}

function readKey(row: Row) {
  return {
    job: String(row['job_name']),
    scope: String(row['scope']),
    periodKey: String(row['period_key']),
  };
}

function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Rounded down, so that an instant that has passed in the database has passed here, too. */
function readInstant(value: unknown): Date | undefined {
  const us = readInteger(value);
  return us === undefined ? undefined : new Date(Math.floor(us / 1000));
}

function readRequiredInstant(row: Row, column: string): Date {
  const instant = readInstant(row[column]);
  if (instant !== undefined) return instant;
  throw new LockStorageError(`A row of the run ledger has no value in column '${column}'.`);
}

function readInteger(value: unknown): number | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new LockStorageError(
    `A row of the run ledger has an invalid number: ${describeValue(value)} is not a safe integer.`,
  );
}
