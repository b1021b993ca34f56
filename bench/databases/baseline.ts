import { newOwner } from '#cronlatch/core/lease/owner';
import { lockStatements } from '#cronlatch/storage/sql/lock/lock-statements';
import { lockTableOf } from '#cronlatch/storage/sql/schema/lock-table';
import type { SqlDialect } from '#cronlatch/storage/sql/dialects/sql-dialect';
import type { SqlStatement } from '#cronlatch/storage/sql/connections/sql-executor';
import type { Contender } from '../contender';
import { BASELINE_LOCK, LOCK_AT_MOST_FOR_US } from '../terms';

/** A driver's connection. */
export interface BareConnection {
  /** Sends a statement as a prepared one. @returns the number of written rows */
  write(statement: SqlStatement): Promise<number | null>;
  end(): Promise<void>;
}

/**
 * The library's own statements, sent by the driver alone.
 *
 * @param now the SQL expression for the database's time, as the library uses it for its own table
 */
export async function openBaseline(
  connection: BareConnection,
  dialect: SqlDialect,
  now: string,
): Promise<Contender> {
  const statements = lockStatements(dialect, lockTableOf(), {
    now,
    clockStepMs: 0,
    hasToken: true,
    comparesBytes: true,
    insertReturnsToken: true,
    overridesClock: false,
  });
  const write = async (key: 'insert' | 'takeOver' | 'unlock', owner: string): Promise<void> => {
    const statement = statements[key].bind({
      name: BASELINE_LOCK,
      owner,
      atMost: LOCK_AT_MOST_FOR_US,
      atLeast: 0,
    });
    const rows = await connection.write(statement);
    if (rows !== 1)
      throw new Error(`The statement ${key} of the baseline wrote ${rows} rows instead of one.`);
  };
  const first = newOwner();
  await write('insert', first);
  await write('unlock', first);
  return {
    async pair() {
      const owner = newOwner();
      await write('takeOver', owner);
      await write('unlock', owner);
    },
    [Symbol.asyncDispose]: () => connection.end(),
  };
}
