import { LockStorageError } from '../../../core';
import { describeValue } from '../../../core/options';
import type { OverdueScope, Peek, PeekRequest } from '../../../ledger/run-store';
import {
  describeRun,
  type Run,
  type RunCount,
  type RunEvent,
  type RunEventKind,
  type RunSummary,
} from '../../../ledger/run';
import type { RunState } from '../../../ledger/run-state';
import type { SqlRow } from '../statements/statement';

/** @param number of the request, among those of the statement */
export function readPeek(rows: readonly SqlRow[], { job, scope, since }: PeekRequest, number = 0): Peek {
  const own = rows.filter((row) => row['job_name'] === job && row['scope'] === scope);
  const runs = own.map(readSummary);
  const marks = runs.flatMap(({ periodStart }, index) =>
    Number(own[index]?.['is_marked']) === 1 && periodStart && since && periodStart >= since
      ? [periodStart.getTime()]
      : [],
  );
  const row = rows.find(({ member }) => member !== null && Number(member) === number) ?? {};
  return {
    now: readNow(row),
    runs,
    firstPeriodStart: marks.length > 0 ? new Date(Math.max(...marks)) : readInstant(row, 'first_us'),
  };
}

export function readNow(row: SqlRow): Date {
  const now = readInstant(row, 'now_us');
  if (now !== undefined) return now;
  throw new LockStorageError('The database returned no current time for a statement on the run ledger.');
}

export function readScope(row: SqlRow): OverdueScope {
  return { job: String(row['job_name']), scope: String(row['scope']) };
}

export function readRun(row: SqlRow): Run {
  return { ...readSummary(row), result: readText(row['result']), error: readText(row['error']) };
}

export function readEvent(row: SqlRow, subject: string): RunEvent {
  return {
    at: readRequiredInstant(row, 'at', subject),
    generation: Number(row['generation']),
    attempt: Number(row['attempt']),
    kind: row['kind'] as RunEventKind,
    actor: String(row['actor']),
    fencingToken: readInteger(row, 'fencing_token', subject),
    detail: readText(row['detail']),
  };
}

/** Drivers return an id as number, string or bigint. */
export function readId(row: SqlRow, subject = 'a run'): number {
  const id = readInteger(row, 'id', subject);
  if (id !== undefined) return id;
  throw new LockStorageError(`The database returned no id for ${subject}.`);
}

export function readSummary(row: SqlRow): RunSummary {
  const { job, scope } = readScope(row);
  const periodKey = String(row['period_key']);
  const subject = describeRun({ job, scope, periodKey });
  return {
    job,
    scope,
    periodKey,
    periodStart: readInstant(row, 'period_start', subject),
    periodEnd: readInstant(row, 'period_end', subject),
    timeZone: readText(row['time_zone']),
    state: row['state'] as RunState,
    generation: Number(row['generation']),
    attempt: Number(row['attempt']),
    nextAttemptAt: readInstant(row, 'next_attempt_at', subject),
    claimedBy: readText(row['claimed_by']),
    lockId: readText(row['lock_id']),
    fencingToken: readInteger(row, 'fencing_token', subject),
    leaseUntil: readInstant(row, 'lease_until', subject),
    firstStartedAt: readInstant(row, 'first_started_at', subject),
    startedAt: readInstant(row, 'started_at', subject),
    finishedAt: readInstant(row, 'finished_at', subject),
    reason: readText(row['reason']),
    createdAt: readRequiredInstant(row, 'created_at', subject),
    updatedAt: readRequiredInstant(row, 'updated_at', subject),
  };
}

export function readCount(row: SqlRow): RunCount {
  const { job } = readScope(row);
  const subject = `the number of runs of job '${job}'`;
  const meanUs = readInteger(row, 'mean_us', subject);
  return {
    job,
    state: row['state'] as RunState,
    start: readRequiredInstant(row, 'quarter_start', subject),
    count: Number(row['runs']),
    meanMs: meanUs === undefined ? undefined : meanUs / 1000,
  };
}

export function readText(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** Rounded down, so that an instant that has passed in the database has passed here, too. */
export function readInstant(row: SqlRow, column: string, subject?: string): Date | undefined {
  const us = readInteger(row, column, subject);
  return us === undefined ? undefined : new Date(Math.floor(us / 1000));
}

export function readRequiredInstant(row: SqlRow, column: string, subject: string): Date {
  const instant = readInstant(row, column, subject);
  if (instant !== undefined) return instant;
  throw new LockStorageError(`Could not read ${subject}: column '${column}' has no value.`);
}

export function readInteger(row: SqlRow, column: string, subject = 'the run ledger'): number | undefined {
  const value = row[column];
  if (value === null || value === undefined || value === '') return undefined;
  const number = Number(value);
  if (Number.isSafeInteger(number)) return number;
  throw new LockStorageError(
    `Could not read ${subject}: column '${column}' has ${describeValue(value)}, which is not a safe integer.`,
  );
}
