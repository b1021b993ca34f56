import type { SqlValue } from '../../storage/sql/statements/statement';
import { driverErrorOf, type DriverError } from '../../storage/sql/statements/sql-failure';
import type { GivenTransaction } from '../../storage/sql/database/driver';
import { answerOf, type Limits, type Transaction } from '../../storage/sql/connections/transaction';

/**
 * The transaction of a query builder, for `completeRunIn`. The page "Query builders" of the documentation makes it of
 * transactions of Knex, Kysely, Drizzle and Prisma.
 */
export interface AdaptedTransaction {
  /** `undefined`: not known. Otherwise a ledger in a database of another kind is refused. */
  readonly dialect?: 'mysql' | 'postgres' | undefined;
  /**
   * Sends one statement inside the transaction and rejects with the error of the database.
   *
   * @param text with one placeholder for each value, in their order: `?` on MySQL and MariaDB, and `$1`, `$2` and so on on
   * PostgreSQL
   */
  run(text: string, values: readonly SqlValue[]): Promise<AdaptedAnswer>;
}

export interface AdaptedAnswer {
  /** What the statement returned, with the names of the columns unchanged. */
  readonly rows: readonly Readonly<Record<string, unknown>>[];
  /** How many rows an UPDATE or an INSERT wrote. PostgreSQL does not need it. */
  readonly affectedRows: number | undefined;
}

/** `undefined` for anything but the transaction of a query builder. */
export function readAdapted(transaction: unknown): GivenTransaction | undefined {
  const adapted = transaction as AdaptedTransaction | null | undefined;
  if (typeof adapted?.run !== 'function') return undefined;
  const open = (limits: Limits): Transaction => {
    const run: Run = (text, values = []) => answerOf(adapted.run(text, values), limits);
    return {
      send: async ({ text, values }) => ({ ...(await run(text, values)), insertId: undefined }),
      isOpen: () => keepsSavepoint(run),
    };
  };
  return { dialect: adapted.dialect, open };
}

type Run = (text: string, values?: readonly SqlValue[]) => Promise<AdaptedAnswer>;

/** Outside a transaction, PostgreSQL refuses a savepoint. MySQL and MariaDB drop it at once. */
async function keepsSavepoint(run: Run): Promise<boolean> {
  try {
    await run('SAVEPOINT cronlatch_completion');
    await run('RELEASE SAVEPOINT cronlatch_completion');
    return true;
  } catch (error) {
    const codes = driverErrorsIn(error).flatMap(({ code, errno }) => [code, errno]);
    if (codes.includes(NO_SUCH_SAVEPOINT) || codes.includes(NO_TRANSACTION)) return false;
    if (codes.includes(CANNOT_PREPARE)) return await refusesCharacteristics(run);
    throw error;
  }
}

/**
 * For a client that prepares every statement: MySQL cannot prepare SAVEPOINT. Inside a transaction it refuses this one,
 * and the transaction continues. Outside, the statement only repeats the default of the next transaction.
 */
async function refusesCharacteristics(run: Run): Promise<boolean> {
  try {
    await run('SET TRANSACTION READ WRITE');
    return false;
  } catch (error) {
    if (driverErrorsIn(error).some(({ errno }) => errno === IN_TRANSACTION)) return true;
    throw error;
  }
}

/** The first one is a code of PostgreSQL, the others are numbers of MySQL. */
const NO_TRANSACTION = '25P01';
const CANNOT_PREPARE = 1295;
const NO_SUCH_SAVEPOINT = 1305;
const IN_TRANSACTION = 1568;

/** Query builders wrap the error of their driver, each in its own way. */
export function driverErrorsIn(error: unknown, seen = new Set<unknown>()): readonly DriverError[] {
  if (typeof error !== 'object' || error === null || seen.has(error)) return [];
  seen.add(error);
  const { originalCode, cause, meta, driverAdapterError } = error as Record<string, unknown>;
  const {
    code = originalCode as string | undefined,
    errno = Number(originalCode),
    message,
  } = driverErrorOf(error);
  return [
    { code, errno, message },
    ...[cause, meta, driverAdapterError].flatMap((each) => driverErrorsIn(each, seen)),
  ];
}
