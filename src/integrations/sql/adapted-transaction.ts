import type { SqlValue } from '../../storage/sql/connections/statement';
import type { GivenTransaction } from '../../storage/sql/database/driver';
import { answerOf, type Limits, type Transaction } from '../../storage/sql/database/transaction';
import type { DialectName } from '../../storage/sql/dialects/sql-dialect';

/**
 * A transaction of the application, as `completeRunIn` uses it. You need it only for a query builder that
 * `cronlatch/adapters` does not have.
 */
export interface AdaptedTransaction {
  /** `undefined`: not known. Otherwise a ledger in a database of another kind is refused. */
  readonly dialect?: 'mysql' | 'postgres' | undefined;
  /**
   * Sends one statement inside the transaction and rejects with the error of the database.
   *
   * @param text with `?` for each value on MySQL and MariaDB, and `$1`, `$2` and so on on PostgreSQL
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
  const { dialect } = adapted;
  return { dialect, open: (limits, { name }) => transactionIn(adapted, name, limits) };
}

type Run = (text: string, values?: readonly SqlValue[]) => Promise<AdaptedAnswer>;

function transactionIn(adapted: AdaptedTransaction, dialect: DialectName, limits: Limits): Transaction {
  const run: Run = (text, values = []) => answerOf(adapted.run(text, values), limits);
  return {
    send: async ({ text, values }) => ({ ...(await run(text, values)), insertId: undefined }),
    isOpen: () => (dialect === 'postgres' ? isSameTransaction(run) : keepsSavepoint(run)),
  };
}

/** Outside a transaction, PostgreSQL runs each statement in one of its own. */
async function isSameTransaction(run: Run): Promise<boolean> {
  const read = async (): Promise<string> => {
    const { rows } = await run('SELECT txid_current() AS id');
    return String(rows[0]?.['id']);
  };
  return (await read()) === (await read());
}

/** Outside a transaction, MySQL and MariaDB drop a savepoint at once. */
async function keepsSavepoint(run: Run): Promise<boolean> {
  try {
    await run('SAVEPOINT cronlatch_completion');
    await run('RELEASE SAVEPOINT cronlatch_completion');
    return true;
  } catch (error) {
    if (hasNumber(error, NO_SUCH_SAVEPOINT)) return false;
    if (hasNumber(error, CANNOT_PREPARE)) return await refusesCharacteristics(run);
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
    if (hasNumber(error, IN_TRANSACTION)) return true;
    throw error;
  }
}

/** Numbers of MySQL's errors. */
const CANNOT_PREPARE = 1295;
const NO_SUCH_SAVEPOINT = 1305;
const IN_TRANSACTION = 1568;

/** Query builders wrap the error of their driver, each in its own way. */
function hasNumber(error: unknown, number: number): boolean {
  if (typeof error !== 'object' || error === null) return false;
  const { errno, originalCode, cause, meta, driverAdapterError } = error as Record<string, unknown>;
  if (errno === number || originalCode === String(number)) return true;
  return [cause, meta, driverAdapterError].some((wrapped) => hasNumber(wrapped, number));
}
