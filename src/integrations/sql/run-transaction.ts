import { ClaimLostError, CronlatchError, InvalidLockUseError } from '../../core';
import { withinLimitOr } from '../../core/clock';
import { describeRun } from '../../ledger/run';
import { limitOf } from '../../ledger/store-statements';
import { isOurs } from '../../ledger/tick/decide-outcome';
import { claimLostError, isCompletedBy, serializeResult } from '../../ledger/tick/record-outcome';
import { requiredContext, type RunContext } from '../../ledger/tick/run-context';
import type { IsolationLevel } from '../../storage/sql/connections/server-driver';
import type { Driver } from '../../storage/sql/database/driver';
import { answerOf, ChangedSettings, type RunTransaction } from '../../storage/sql/connections/transaction';
import {
  completeInTransaction,
  isFailure,
  lenderOf,
  transactionEnded,
  type Completion,
  type SqlLedger,
} from './completion';

export const IN_RUN_TRANSACTION = 'inRunTransaction()';

/** Even if the lease has expired or nearly expired, the server must not end the transaction between two statements. */
const LEAST_IDLE_MS = 1000;

export interface RunTransactionOptions {
  /** Default: the database's default. */
  readonly isolationLevel?: IsolationLevel | undefined;
}

export async function runInTransaction<Lent, T>(
  { subpath, isClientError }: Driver<never, never, Lent>,
  work: (connection: Lent) => T | PromiseLike<T>,
  { isolationLevel }: RunTransactionOptions,
): Promise<T> {
  const run = requiredContext(IN_RUN_TRANSACTION);
  const { ledger, lend } = lenderOf<Promise<RunTransaction<Lent>>>(run, IN_RUN_TRANSACTION, subpath);
  run.beginCompletion(IN_RUN_TRANSACTION);
  try {
    const transaction = await lentWithin(() => lend(ledger), run, ledger);
    const settings = new ChangedSettings(transaction);
    const { store } = ledger;
    try {
      // This may verify the tables, so it comes before the transaction.
      const statements = await store.statements(limitOf(ledger));
      if (store.nodeWait !== undefined) await settings.change(store.nodeWait);
      const context = { run, ledger, transaction, settings, statements, isClientError };
      return await transact(context, work, isolationLevel);
    } finally {
      // A connection whose settings cannot be restored must not return to the pool.
      await settings.restore().catch(() => transaction.destroy?.());
      await transaction.release();
    }
  } finally {
    run.endCompletion();
  }
}

/** A full pool has the rest of the lease for a request, and the server the time of a statement to open a connection. */
async function lentWithin<T extends { release(): unknown }>(
  lend: () => Promise<T>,
  run: RunContext,
  ledger: SqlLedger,
): Promise<T> {
  const { waiting = () => 0 } = ledger.store.database;
  const before = waiting();
  const lending = lend();
  const waitMs = waiting() > before ? run.remainingMs() : 0;
  const statementTimeoutMs = Math.max(ledger.statementTimeoutMs, waitMs);
  return await answerOf(lending, { ...ledger, statementTimeoutMs }).catch((error: unknown) => {
    void lending.then((late) => late.release()).catch(() => {});
    throw error;
  });
}

interface Context<Lent = unknown> extends Pick<Completion, 'run' | 'ledger' | 'statements'> {
  readonly transaction: RunTransaction<Lent>;
  readonly settings: ChangedSettings;
  readonly isClientError: (error: unknown) => boolean;
}

async function transact<Lent, T>(
  context: Context<Lent>,
  work: (connection: Lent) => T | PromiseLike<T>,
  isolationLevel: IsolationLevel | undefined,
): Promise<T> {
  const { run, ledger, transaction, settings, isClientError } = context;
  let thrownByWork: unknown;
  let idleMs = Infinity;
  const beganMs = ledger.clock.monotonicMs();
  try {
    await transaction.begin(isolationLevel);
    const { idleLimit } = transaction;
    if (idleLimit !== undefined) {
      idleMs = Math.max(LEAST_IDLE_MS, run.remainingMs());
      await settings.change({ begin: idleLimit.begin(idleMs), end: idleLimit.end });
    }
    const runWork = async (): Promise<T> => await work(transaction.connection);
    const value = await runWork().catch(async (error: unknown) => {
      thrownByWork = error;
      const isOpen = isFailure(error, 'contention', ledger) || (await transaction.isOpen().catch(() => true));
      if (!isOpen) transactionEnded(run);
      throw error;
    });
    const result = serializeResult(ledger, run.claim, value);
    await completeInTransaction(transaction, { ...context, result });
    await commit(context);
    return value;
  } catch (error) {
    await rollBack(context);
    if (error === thrownByWork && !isClientError(error)) throw error;
    if (ledger.clock.monotonicMs() - beganMs < idleMs && run.remainingMs() > 0) throw error;
    throw await claimLostBy(error, context, idleMs);
  }
}

/** If the answer to COMMIT is lost, the row shows whether it took effect, as soon as its writer has ended. */
async function commit(context: Context): Promise<void> {
  const { run, transaction, ledger } = context;
  const { clock, statementTimeoutMs } = ledger;
  const timeoutError = (): Error => {
    transaction.destroy?.();
    return new Error(`The database did not answer COMMIT within ${statementTimeoutMs} ms.`);
  };
  const watch = transaction.watchEnd?.();
  const confirm = (): Promise<void> =>
    confirmCommit(context, watch?.isCommitted() ?? !transaction.sendsBeforeCommit);
  try {
    await withinLimitOr(clock, transaction.commit(), statementTimeoutMs, timeoutError);
  } catch (error) {
    // The client has received the answer to COMMIT, so a subscriber of the application has thrown.
    if (!transaction.isActive) {
      await confirm();
      throw error;
    }
    // COMMIT was rejected, so it had no effect. If the connection is lost, that is unknown.
    if (await transaction.isOpen().catch(() => false)) throw error;
    await rollBack(context);
    if (!(await isCompletedBy(ledger, run.claim, { remainingMs: run.remainingMs() }))) throw error;
    run.confirmCompletion();
    return;
  } finally {
    watch?.stop();
  }
  if (transaction.isActive)
    throw new InvalidLockUseError(
      `${IN_RUN_TRANSACTION} rolled everything back because its work began a transaction on the connection and left it open. Commit that transaction, or roll it back.`,
    );
  await confirm();
}

/**
 * @param isCommitted `false` if the answer to COMMIT does not prove it, so the row must be read
 * @throws InvalidLockUseError if COMMIT has rolled the transaction back
 */
async function confirmCommit({ run, ledger }: Context, isCommitted: boolean): Promise<void> {
  const remainingMs = run.remainingMs();
  if (!isCommitted && !(await isCompletedBy(ledger, run.claim, { remainingMs })))
    throw new InvalidLockUseError(
      `Could not complete ${describeRun(run.claim)}: the database rolled its transaction back, because a statement in it failed and its error was caught. Check beforeTransactionCommit of your subscribers, and statements that are not awaited.`,
    );
  run.confirmCompletion();
}

/** If rolling back fails, the connection is ended, and the transaction with it. The caller reports the first error. */
async function rollBack({ transaction, ledger }: Context): Promise<void> {
  try {
    // More than once if the work has left nested transactions open.
    while (transaction.isActive) await answerOf(transaction.rollBack(), ledger);
  } catch {
    transaction.destroy?.();
  }
}

/**
 * Turns the failure of a transaction into a `ClaimLostError` if the database has ended its connection, which may have been
 * idle for too long, or if the run can no longer be completed. The error of the database is then its cause.
 *
 * @param error from the database, after the transaction was rolled back
 * @returns `error` itself if the run could still be completed
 */
async function claimLostBy(error: unknown, context: Context, idleMs: number): Promise<unknown> {
  if (error instanceof CronlatchError) return error;
  const { ledger, transaction } = context;
  const { claim } = context.run;
  const reading = ledger.store.change(claim, (found) => ({ value: { run: found?.run } }), limitOf(ledger));
  const row = await reading.catch(() => undefined);
  if (row === undefined) return error; // The state of the run is unknown.
  const { run } = row;
  if (run === undefined || !isOurs(run, claim)) return claimLostError(claim, run, { cause: error });
  const isOpen = await transaction.isOpen().catch(() => undefined);
  if (isOpen !== undefined || idleMs === Infinity) return error; // Its connection has not ended, or it never began.
  return new ClaimLostError(
    `Lost attempt ${claim.attempt} of ${describeRun(claim)}: the connection of its transaction ended, and nothing in it was committed. The database ends it if it is idle for longer than ${Math.ceil(idleMs)} ms, the rest of the lease when the transaction began, also with keepAlive. Do long work before the transaction, or lengthen lockAtMostFor.`,
    { cause: error },
  );
}
