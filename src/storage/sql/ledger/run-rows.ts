import { LockStorageError } from '../../../core';
import { describeValue } from '../../../core/describe-value';
import type { OwedScope, Peek } from '../../../ledger/run-store';
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
 * What a statement selects for `summaryOf`, of the run table as `r`.
 *
 * @param us makes whole microseconds since 1970 of an instant
 */
export function summaryFields(us: (instant: string) => string): string {
  const instants = SUMMARY_INSTANTS.map((name) => `${us(`r.${name}`)} AS ${name}`);
  return [...SUMMARY_VALUES.map((name) => `r.${name} AS ${name}`), ...instants].join(', ');
}

/** The same for `runOf`. */
export function runFields(us: (instant: string) => string): string {
  return `${summaryFields(us)}, r.result AS result, r.error AS error`;
}

/** The first column is there even where there is no run. */
export function peekOf(rows: readonly Row[]): Peek {
  const [first = {}] = rows;
  return {
    now: nowOf(first),
    runs: rows.filter(({ id }) => id !== null).map(summaryOf),
    firstPeriodStart: instantOf(first['first_us']),
  };
}

export function nowOf(row: Row): Date {
  const now = instantOf(row['now_us']);
  if (now !== undefined) return now;
  throw new LockStorageError('The database did not tell its time.');
}

export function owedOf(row: Row): OwedScope {
  return { job: String(row['job_name']), scope: String(row['scope']) };
}

export function runOf(row: Row): Run {
  return { ...summaryOf(row), result: textOf(row['result']), error: textOf(row['error']) };
}

export function eventOf(row: Row): RunEvent {
  return {
    at: neededInstant(row['at']),
    generation: Number(row['generation']),
    attempt: Number(row['attempt']),
    kind: row['kind'] as RunEventKind,
    actor: String(row['actor']),
    fencingToken: integerOf(row['fencing_token']),
    detail: textOf(row['detail']),
  };
}

/** Of the row that a statement has found or written. Drivers hand it over as number, string or bigint. */
export function idOf(value: unknown): number {
  const id = integerOf(value);
  if (id !== undefined) return id;
  throw new LockStorageError('The database did not tell the id of a run.');
}

function summaryOf(row: Row): RunSummary {
  return {
    ...keyOf(row),
    periodStart: instantOf(row['period_start']),
    periodEnd: instantOf(row['period_end']),
    timeZone: textOf(row['time_zone']),
    state: row['state'] as RunState,
    generation: Number(row['generation']),
    attempt: Number(row['attempt']),
    nextAttemptAt: instantOf(row['next_attempt_at']),
    claimedBy: textOf(row['claimed_by']),
    lockId: textOf(row['lock_id']),
    fencingToken: integerOf(row['fencing_token']),
    leaseUntil: instantOf(row['lease_until']),
    firstStartedAt: instantOf(row['first_started_at']),
    startedAt: instantOf(row['started_at']),
    finishedAt: instantOf(row['finished_at']),
    reason: textOf(row['reason']),
    createdAt: neededInstant(row['created_at']),
    updatedAt: neededInstant(row['updated_at']),
  };
}

function keyOf(row: Row) {
  return {
    job: String(row['job_name']),
    scope: String(row['scope']),
    periodKey: String(row['period_key']),
  };
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Rounded down, so that what has come to the database has come here. */
function instantOf(value: unknown): Date | undefined {
  const us = integerOf(value);
  return us === undefined ? undefined : new Date(Math.floor(us / 1000));
}

function neededInstant(value: unknown): Date {
  const instant = instantOf(value);
  if (instant !== undefined) return instant;
  throw new LockStorageError('The row of a run lacks an instant that it must have.');
}

function integerOf(value: unknown): number | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new LockStorageError(
    `The row of a run holds no safe integer where it must: ${describeValue(value)}.`,
  );
}
