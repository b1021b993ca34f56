import { TypeORMError, type EntityManager, type QueryRunner } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { withinLimitOr } from '../../core/clock';
import { isCompletedBy, serializeResult } from '../../ledger/tick/record-outcome';
import { requiredContext, type RunContext } from '../../ledger/tick/run-context';
import { limitOf } from '../../ledger/store-statements';
import type { RunStatements } from '../../storage/sql/ledger/run-statements';
import {
  applicationSession,
  type ApplicationSession,
  type IsolationLevel,
} from '../../storage/typeorm/application-session';
import { claimLostBy } from './claim-lost-by';
import { completeInTransaction } from './complete-in-transaction';
import { databaseOf, type LedgerDatabase } from './ledger-databases';
import { describeRun } from '../../ledger/run';

const CALLER = 'inRunTransaction()';

/** Even if the lease has expired or nearly expired, the server must not end the transaction between two statements. */
const LEAST_IDLE_MS = 1000;

export interface RunTransactionOptions {
  /** Default: the database's default. */
  readonly isolationLevel?: IsolationLevel | undefined;
}

/**
 * Runs `work` in a transaction of the application's DataSource that also completes the current run. The effects in the
 * database and the completion are committed together or not at all, so the effects happen exactly once even if another
 * process also holds the run. The value that `work` returns is stored as the result.
 *
 * If the transaction fails, it has had no effect, and you may call this function again. The server ends the connection
 * when it is idle for longer than the rest of the lease, but at least for one second (not on SQLite). So a stopped
 * process does not block other instances for longer. Not covered are effects outside the database, statements that do
 * not go through the manager, and what `work` commits itself.
 *
 * @throws ClaimLostError if another process has taken the run over, or if the database ended the transaction after the
 * lease. Everything is rolled back. `cause` is the error of the database, if there was one.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run, after `giveBack` or `skip`, if the DataSource is not connected or the ledger
 * is in another database, or if `work` has ended the transaction or left a nested one open
 * @throws the error of `work` or of the transaction
 */
export async function inRunTransaction<T>(
  work: (manager: EntityManager) => T | PromiseLike<T>,
  { isolationLevel }: RunTransactionOptions = {},
): Promise<T> {
  const run = requiredContext(CALLER);
  const database = databaseOf(run, CALLER);
  if (!database.dataSource.isInitialized) {
    throw new InvalidLockUseError(
      `${CALLER} needs a connected DataSource. First call await dataSource.initialize() on the one that you passed to createJobGuard().`,
    );
  }
  run.beginCompletion(CALLER);
  try {
    const runner = database.dataSource.createQueryRunner('master');
    try {
      const session = await applicationSession(runner, database.ledger);
      // This may verify the tables, so it comes before the transaction.
      const statements = await database.store.statements(limitOf(database.ledger));
      return await transact({ run, database, runner, session, statements }, work, isolationLevel);
    } finally {
      await runner.release();
    }
  } finally {
    run.endCompletion();
  }
}

interface Transaction {
  readonly run: RunContext;
  readonly database: LedgerDatabase;
  readonly runner: QueryRunner;
  readonly session: ApplicationSession;
  readonly statements: RunStatements;
}

async function transact<T>(
  transaction: Transaction,
  work: (manager: EntityManager) => T | PromiseLike<T>,
  isolationLevel: IsolationLevel | undefined,
): Promise<T> {
  const { run, database, runner, session, statements } = transaction;
  const { started } = await session.begin(isolationLevel);
  let thrownByWork: unknown;
  try {
    await started;
    await session.limitIdle(Math.max(LEAST_IDLE_MS, run.remainingMs()));
    const runWork = async (): Promise<T> => await work(runner.manager);
    const value = await runWork().catch((error: unknown) => {
      thrownByWork = error;
      throw error;
    });
    await completeInTransaction(session, {
      statements,
      dialect: database.store.database.dialect,
      claim: run.claim,
      result: serializeResult(database.ledger, run.claim, value),
    });
    await commit(transaction);
    return value;
  } catch (error) {
    await rollBack(transaction);
    // An error of the job itself stays as it is. An error of TypeORM may be due to the lost lease.
    if (error === thrownByWork && !(error instanceof TypeORMError)) throw error;
    throw await claimLostBy(error, { run, ledger: database.ledger, session });
  } finally {
    await unlimitIdle(session);
  }
}

/** If the answer to COMMIT is lost, the row shows whether it took effect, as soon as its writer has ended. */
async function commit(transaction: Transaction): Promise<void> {
  const { run, runner, session, database } = transaction;
  const { clock, statementTimeoutMs } = database.ledger;
  const timeoutError = (): Error => {
    session.destroy();
    return new Error(`The database did not answer COMMIT within ${statementTimeoutMs} ms.`);
  };
  const mayBeRolledBack = sendsBeforeCommit(runner);
  const watch = session.watchEnd();
  try {
    await withinLimitOr(clock, runner.commitTransaction(), statementTimeoutMs, timeoutError);
  } catch (error) {
    // TypeORM has received the answer to COMMIT, so a subscriber of the application has thrown.
    if (!runner.isTransactionActive) {
      await confirmCommit(transaction, watch?.isCommitted() ?? !mayBeRolledBack);
      throw error;
    }
    if (await isStillOpen(session)) throw error;
    await rollBack(transaction);
    const remainingMs = run.remainingMs();
    if (!(await isCompletedBy(database.ledger, run.claim, { remainingMs }))) throw error;
    run.confirmCompletion();
    return;
  } finally {
    watch?.stop();
  }
  if (runner.isTransactionActive) {
    throw new InvalidLockUseError(
      `${CALLER} rolled everything back because its work began a transaction on the query runner and left it open. Commit that transaction, or roll it back.`,
    );
  }
  await confirmCommit(transaction, watch?.isCommitted() ?? !mayBeRolledBack);
}

/** Subscribers can send statements between the completion and COMMIT, and catch the error of one that undoes both. */
function sendsBeforeCommit({ dataSource }: QueryRunner): boolean {
  return dataSource.subscribers.some((subscriber) => subscriber.beforeTransactionCommit !== undefined);
}

/**
 * @param isCommitted `false` if the answer to COMMIT does not prove it, so the row must be read
 * @throws InvalidLockUseError if COMMIT has rolled the transaction back
 */
async function confirmCommit({ run, database }: Transaction, isCommitted: boolean): Promise<void> {
  const remainingMs = run.remainingMs();
  if (!isCommitted && !(await isCompletedBy(database.ledger, run.claim, { remainingMs }))) {
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
async function rollBack({ runner, session, database }: Transaction): Promise<void> {
  const { clock, statementTimeoutMs } = database.ledger;
  const timeoutError = (): Error =>
    new Error(`The database did not answer ROLLBACK within ${statementTimeoutMs} ms.`);
  try {
    // More than once if the work has left nested transactions open.
    while (runner.isTransactionActive)
      await withinLimitOr(clock, runner.rollbackTransaction(), statementTimeoutMs, timeoutError);
  } catch {
    session.destroy();
  }
}

/** A connection whose limit cannot be removed must not return to the pool. */
async function unlimitIdle(session: ApplicationSession): Promise<void> {
  await session.unlimitIdle().catch(() => session.destroy());
}
