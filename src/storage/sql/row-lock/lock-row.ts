import type { NamedLockRecord } from '../../../core';
import type { Moment } from '../../../core/clock';
import type { BorrowedConnection } from '../connections/connections';
import type { RowLockLimits, ServerDriver } from '../connections/server-driver';
import type { ServerSession } from '../connections/server-session';
import type { SqlResult } from '../connections/sql-executor';
import { SqlExecutionError } from '../connections/sql-executor';
import { driverErrorOf, type DriverError } from '../connections/sql-failure';
import { recordIn } from '../lock/sql-storage-accessor';
import type { RowLockStatements } from './row-lock-statements';

interface RowAttempt {
  readonly name: string;
  readonly statements: RowLockStatements;
  readonly driver: ServerDriver;
  readonly limits: RowLockLimits;
  readonly now: () => SentAt;
}

/** When a statement was sent: by the clock of the leases, and by the one that watches the connection. */
interface SentAt {
  readonly lease: Moment;
  readonly connection: Moment;
}

export type RowAnswer =
  /** The transaction is open. The token in the record is that of the new holder. */
  | {
      readonly is: 'locked';
      readonly record: NamedLockRecord;
      readonly nowUs: number;
      readonly sentAt: SentAt;
    }
  /** The row is free, but `lockAtLeastFor` of its last holder still lasts. */
  | { readonly is: 'kept'; readonly record: NamedLockRecord }
  | { readonly is: 'held' }
  | { readonly is: 'missing' };

/**
 * Tries to lock the row. Gives the connection back, outside a transaction, unless the row is locked.
 *
 * @throws the error of the driver or of the connection
 */
export async function lockRow(
  { connection, endsAtMs, giveBack }: BorrowedConnection<ServerSession>,
  { name, statements, driver, limits, now }: RowAttempt,
): Promise<RowAnswer> {
  const statement = statements.lock.bind({ name });
  try {
    await connection.begin(driver.rowLock.begin(limits), endsAtMs);
    let sentAt = now();
    let result = await connection.sendInside(statement, endsAtMs);
    if (limits.waitMs > 0) {
      // The first answer can hold the time before the wait.
      sentAt = now();
      result = await connection.sendInside(statement, endsAtMs);
    }
    const answer = answerIn(result, statements, sentAt);
    if (answer.is !== 'locked') giveBack(await connection.rollBack(endsAtMs));
    return answer;
  } catch (error) {
    giveBack(await connection.rollBack(endsAtMs));
    if (isRowLocked(error)) return { is: 'held' };
    throw error;
  }
}

function answerIn({ rows }: SqlResult, { records }: RowLockStatements, sentAt: SentAt): RowAnswer {
  const [row] = rows;
  if (row === undefined) return { is: 'missing' };
  const record = recordIn(row, records);
  if (record.held) return { is: 'kept', record };
  return { is: 'locked', record, nowUs: Number(row['now_us']), sentAt };
}

/** MySQL: NOWAIT. MariaDB: NOWAIT, and on both a wait that was too long. PostgreSQL: both. */
const ROW_LOCKED = new Set([3572, 1205]);

function isRowLocked(error: unknown): boolean {
  const { errno = 0, code }: DriverError = driverErrorOf(
    error instanceof SqlExecutionError ? error.cause : error,
  );
  return ROW_LOCKED.has(errno) || code === '55P03';
}
