import { InvalidLockUseError } from '../../core';
import { describeValue } from '../../core/describe-value';

/**
 * @param expected how the caller gets a transaction
 * @throws InvalidLockUseError if these are not methods of the transaction
 */
export function requireMethods(
  caller: string,
  transaction: unknown,
  methods: readonly string[],
  expected: string,
): void {
  const members = Object(transaction) as Record<string, unknown>;
  if (methods.every((name) => typeof members[name] === 'function')) return;
  throw new InvalidLockUseError(
    `${caller} cannot use ${describeValue(transaction)}. Pass it the transaction: ${expected}`,
  );
}

/** For a transaction that does not name its database. */
export const OTHER = 'another database';

/** @throws InvalidLockUseError unless the transaction is on a database that it can complete a run in */
export function requireServer(caller: string, dialect: string): 'mysql' | 'postgres' {
  if (dialect === 'mysql' || dialect === 'postgres') return dialect;
  if (dialect === 'sqlite') {
    throw new InvalidLockUseError(
      `${caller} cannot use a transaction on SQLite, because those of better-sqlite3 are synchronous. In the transaction, call completeRunIn(database) of cronlatch/better-sqlite3 instead.`,
    );
  }
  throw new InvalidLockUseError(
    `${caller} cannot use a transaction on ${dialect}. The ledger needs MySQL, MariaDB or PostgreSQL.`,
  );
}
