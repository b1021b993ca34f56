import { TypeORMError, type EntityManager, type QueryRunner } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { withinLimitOr } from '../../core/clock';
import { isCompletedBy, keptResult } from '../../ledger/tick/record-outcome';
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

/** A lease that is over, or nearly, must not make the server end a transaction between two of its statements. */
const LEAST_IDLE_MS = 1000;

export interface RunTransactionOptions {
  /** Default: that of the database. */
  readonly isolationLevel?: IsolationLevel | undefined;
}

/**
 * Runs `work` in a transaction of the application's DataSource that also completes the current run: its effects in the
 * database and the completion are committed together or not at all, so that they are made exactly once, whoever else
 * believes to hold the run. What `work` returns is the stored result.
 *
 * When the transaction fails, nothing of it has happened, and it may be called again. The connection is ended by the
 * server when nothing is sent on it for as long as the lease lasts, and for a second at least (not on SQLite), so that a
 * stopped process blocks nobody for longer. Effects outside the database are not covered, nor is what `work` commits
 * itself, or does elsewhere than through its manager.
 *
 * @throws ClaimLostError when somebody else has taken the run over, or the database ended the transaction after the
 * lease: all is rolled back. Its `cause` is the error of the database, if there was one
 * @throws RunAlreadyCompletedError for a second completion of the run
 * @throws InvalidLockUseError outside a run, after `giveBack` or `skip`, with a DataSource that is not connected, where
 * the ledger is in another database, and when `work` has ended the transaction or left one of its own open in it
 * @throws whatever `work` or the transaction throws
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
      // It is no part of the transaction.
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
    const working = async (): Promise<T> => await work(runner.manager);
    const value = await working().catch((error: unknown) => {
      thrownByWork = error;
      throw error;
    });
    await completeInTransaction(session, {
      statements,
      dialect: database.store.database.dialect,
      claim: run.claim,
      result: keptResult(database.ledger, run.claim, value),
    });
    await commit(transaction);
    return value;
  } catch (error) {
    await rollBack(transaction);
    // What the work throws is its own, unless it passes on an error of TypeORM.
    if (error === thrownByWork && !(error instanceof TypeORMError)) throw error;
    throw await claimLostBy(error, { run, ledger: database.ledger, session });
  } finally {
    await unlimitIdle(session);
  }
}

/** A COMMIT whose answer was lost has happened or not: the row knows, once whoever writes it has ended. */
async function commit(transaction: Transaction): Promise<void> {
  const { run, runner, session, database } = transaction;
  const { clock, statementTimeoutMs } = database.ledger;
  const late = (): Error => {
    session.destroy();
    return new Error(`The database did not answer COMMIT within ${statementTimeoutMs} ms.`);
  };
  const mayBeRolledBack = sendsBeforeCommit(runner);
  const watch = session.watchEnd();
  try {
    await withinLimitOr(clock, runner.commitTransaction(), statementTimeoutMs, late);
  } catch (error) {
    // Once COMMIT is answered, it is a subscriber of the application that has thrown.
    if (!runner.isTransactionActive) {
      await confirm(transaction, watch?.isCommitted() ?? !mayBeRolledBack);
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
  await confirm(transaction, watch?.isCommitted() ?? !mayBeRolledBack);
}

/** Subscribers send statements between the completion and COMMIT, and may catch the error of one that undoes both. */
function sendsBeforeCommit({ dataSource }: QueryRunner): boolean {
  return dataSource.subscribers.some((subscriber) => subscriber.beforeTransactionCommit !== undefined);
}

/**
 * @param isCommitted `false`: the answer to COMMIT says the opposite, or nothing, and then the row has to be read
 * @throws InvalidLockUseError when COMMIT has rolled the transaction back
 */
async function confirm({ run, database }: Transaction, isCommitted: boolean): Promise<void> {
  const remainingMs = run.remainingMs();
  if (!isCommitted && !(await isCompletedBy(database.ledger, run.claim, { remainingMs }))) {
    throw new InvalidLockUseError(
      `Could not complete ${describeRun(run.claim)}: the database rolled its transaction back, because a statement in it failed and its error was caught. Check beforeTransactionCommit of your subscribers, and statements that are not awaited.`,
    );
  }
  run.confirmCompletion();
}

/** Then COMMIT was refused, and has not happened. A connection that is lost does not tell. */
async function isStillOpen(session: ApplicationSession): Promise<boolean> {
  return await session.isInTransaction().catch(() => false);
}

/** Where it cannot be, the connection ends, and the transaction with it. Why it is rolled back is told already. */
async function rollBack({ runner, session, database }: Transaction): Promise<void> {
  const { clock, statementTimeoutMs } = database.ledger;
  const late = (): Error =>
    new Error(`The database did not answer ROLLBACK within ${statementTimeoutMs} ms.`);
  try {
    // More than once where the work has left transactions of its own open inside.
    while (runner.isTransactionActive)
      await withinLimitOr(clock, runner.rollbackTransaction(), statementTimeoutMs, late);
  } catch {
    session.destroy();
  }
}

/** A connection that cannot be set back is not given back either. */
async function unlimitIdle(session: ApplicationSession): Promise<void> {
  await session.unlimitIdle().catch(() => session.destroy());
}
