import { ClaimLostError, CronlatchError, InvalidLockUseError } from '../../core';
import { withinLimitOr } from '../../core/clock';
import { describeRun } from '../../ledger/run';
import type { FoundRun } from '../../ledger/run-store';
import { limitOf } from '../../ledger/store-statements';
import { isOurs } from '../../ledger/tick/decide-outcome';
import { claimLostError, isCompletedBy, serializeResult } from '../../ledger/tick/record-outcome';
import { requiredContext, type RunContext } from '../../ledger/tick/run-context';
import type { IsolationLevel } from '../../storage/sql/connections/server-driver';
import type { ApplicationSession } from '../../storage/sql/database/application-session';
import type { RunStatements } from '../../storage/sql/ledger/run-statements';
import { completeInTransaction } from './completion';
import { sourceOf, type RunPlace, type RunTransaction, type TransactionSource } from './run-databases';

export const IN_RUN_TRANSACTION = 'inRunTransaction()';

/** Even if the lease has expired or nearly expired, the server must not end the transaction between two statements. */
const LEAST_IDLE_MS = 1000;

export interface RunTransactionOptions {
  /** Default: the database's default. */
  readonly isolationLevel?: IsolationLevel | undefined;
}

interface Work<Connection, T> {
  /** The subpath that the job calls. */
  readonly subpath: string;
  readonly work: (connection: Connection) => T | PromiseLike<T>;
  /** An error of the client, not of the job. It may be due to the lost lease. */
  readonly isClientError?: (error: unknown) => boolean;
}

/** Runs work in a transaction of the application that also completes the current run. */
export async function runInTransaction<Connection, T>(
  work: Work<Connection, T>,
  { isolationLevel }: RunTransactionOptions,
): Promise<T> {
  const run = requiredContext(IN_RUN_TRANSACTION);
  const { source, store, ledger } = sourceOf<TransactionSource<Connection>>(
    run,
    IN_RUN_TRANSACTION,
    work.subpath,
  );
  run.beginCompletion(IN_RUN_TRANSACTION);
  try {
    const transaction = await source.open(ledger);
    const { session } = transaction;
    try {
      // This may verify the tables, so it comes before the transaction.
      const statements = await store.statements(limitOf(ledger));
      if (store.nodeWait !== undefined) await session.change(store.nodeWait);
      return await transact({ run, store, ledger, transaction, statements }, work, isolationLevel);
    } finally {
      // A connection whose settings cannot be restored must not return to the pool.
      await session.restore().catch(() => session.destroy());
      await transaction.release();
    }
  } finally {
    run.endCompletion();
  }
}

interface Transaction<Connection> extends RunPlace {
  readonly run: RunContext;
  readonly transaction: RunTransaction<Connection>;
  readonly statements: RunStatements;
}

async function transact<Connection, T>(
  context: Transaction<Connection>,
  { work, isClientError = () => false }: Work<Connection, T>,
  isolationLevel: IsolationLevel | undefined,
): Promise<T> {
  const { run, store, ledger, transaction, statements } = context;
  const { session } = transaction;
  const { started } = await transaction.begin(isolationLevel);
  let thrownByWork: unknown;
  try {
    await started;
    await session.limitIdle(Math.max(LEAST_IDLE_MS, run.remainingMs()));
    const runWork = async (): Promise<T> => await work(transaction.connection);
    const value = await runWork().catch((error: unknown) => {
      thrownByWork = error;
      throw error;
    });
    await completeInTransaction(session, {
      statements,
      database: store.description,
      claim: run.claim,
      result: serializeResult(ledger, run.claim, value),
    });
    await commit(context);
    return value;
  } catch (error) {
    await rollBack(context);
    if (error === thrownByWork && !isClientError(error)) throw error;
    throw await claimLostBy(error, context);
  }
}

/** If the answer to COMMIT is lost, the row shows whether it took effect, as soon as its writer has ended. */
async function commit<Connection>(context: Transaction<Connection>): Promise<void> {
  const { run, transaction, ledger } = context;
  const { session } = transaction;
  const { clock, statementTimeoutMs } = ledger;
  const timeoutError = (): Error => {
    session.destroy();
    return new Error(`The database did not answer COMMIT within ${statementTimeoutMs} ms.`);
  };
  const mayBeRolledBack = transaction.sendsBeforeCommit;
  const watch = session.watchEnd();
  try {
    await withinLimitOr(clock, transaction.commit(), statementTimeoutMs, timeoutError);
  } catch (error) {
    // The client has received the answer to COMMIT, so a subscriber of the application has thrown.
    if (!transaction.isActive) {
      await confirmCommit(context, watch?.isCommitted() ?? !mayBeRolledBack);
      throw error;
    }
    if (await isStillOpen(session)) throw error;
    await rollBack(context);
    const remainingMs = run.remainingMs();
    if (!(await isCompletedBy(ledger, run.claim, { remainingMs }))) throw error;
    run.confirmCompletion();
    return;
  } finally {
    watch?.stop();
  }
  if (transaction.isActive) {
    throw new InvalidLockUseError(
      `${IN_RUN_TRANSACTION} rolled everything back because its work began a transaction on the connection and left it open. Commit that transaction, or roll it back.`,
    );
  }
  await confirmCommit(context, watch?.isCommitted() ?? !mayBeRolledBack);
}

/**
 * @param isCommitted `false` if the answer to COMMIT does not prove it, so the row must be read
 * @throws InvalidLockUseError if COMMIT has rolled the transaction back
 */
async function confirmCommit<Connection>(
  { run, ledger }: Transaction<Connection>,
  isCommitted: boolean,
): Promise<void> {
  const remainingMs = run.remainingMs();
  if (!isCommitted && !(await isCompletedBy(ledger, run.claim, { remainingMs }))) {
    throw new InvalidLockUseError(
      `Could not complete ${describeRun(run.claim)}: the database rolled its transaction back, because a statement in it failed and its error was caught. Check beforeTransactionCommit of your subscribers, and statements that are not awaited.`,
    );
  }
  run.confirmCompletion();
}

/** @returns `true` if COMMIT was rejected, so that it had no effect; `false` also if the connection is lost */
async function isStillOpen(session: ApplicationSession): Promise<boolean> {
  return await session.isInTransaction().catch(() => false);
}

/** If rolling back fails, the connection is ended, and the transaction with it. The caller reports the first error. */
async function rollBack<Connection>({ transaction, ledger }: Transaction<Connection>): Promise<void> {
  const { clock, statementTimeoutMs } = ledger;
  const timeoutError = (): Error =>
    new Error(`The database did not answer ROLLBACK within ${statementTimeoutMs} ms.`);
  try {
    // More than once if the work has left nested transactions open.
    while (transaction.isActive)
      await withinLimitOr(clock, transaction.rollBack(), statementTimeoutMs, timeoutError);
  } catch {
    transaction.session.destroy();
  }
}

/**
 * Turns the failure of a transaction into a `ClaimLostError` if the lease has expired and the run can no longer be
 * completed. The error of the database is then its cause.
 *
 * @param error from the database, after the transaction was rolled back
 * @returns `error` itself during the lease, and if the run could still be completed
 */
async function claimLostBy<Connection>(
  error: unknown,
  { run: context, ledger, transaction: { session } }: Transaction<Connection>,
): Promise<unknown> {
  if (error instanceof CronlatchError || context.remainingMs() > 0) return error;
  const { claim } = context;
  const readRow = (found: FoundRun | undefined): { value: { found: FoundRun | undefined } } => ({
    value: { found },
  });
  const row = await ledger.store.change(claim, readRow, limitOf(ledger)).catch(() => undefined);
  if (row === undefined) return error; // The state of the run is unknown.
  const run = row.found?.run;
  if (run === undefined || !isOurs(run, claim)) return claimLostError(claim, run, { cause: error });
  const isConnected = await session.isInTransaction().then(
    () => true,
    () => false,
  );
  if (isConnected) return error;
  return new ClaimLostError(
    `Lost attempt ${claim.attempt} of ${describeRun(claim)}: its lease expired, and then the connection of its transaction ended. Nothing in the transaction was committed.`,
    { cause: error },
  );
}
