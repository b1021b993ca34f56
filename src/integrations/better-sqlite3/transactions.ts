import type { Database } from 'better-sqlite3';
import { InvalidLockUseError } from '../../core';
import { pause } from '../../core/clock';
import { isThenable } from '../../core/execution/event-hub';
import { limitOf, type LedgerContext } from '../../ledger/store-statements';
import { serializeResult } from '../../ledger/tick/record-outcome';
import { requiredContext } from '../../ledger/tick/run-context';
import { RETRY_DELAY_MS, runStatement, withoutWaiting } from '../../storage/better-sqlite3/sqlite-database';
import { isHandle, SUBPATH } from '../../storage/better-sqlite3/sqlite-driver';
import { driverErrorOf } from '../../storage/sql/statements/sql-failure';
import { sqlite } from '../../storage/sql/dialects/sqlite';
import {
  COMPLETE_RUN_IN,
  completionError,
  completionSteps,
  ledgerIn,
  lenderOf,
  transactionEnded,
  runOf,
  unusableConnection,
  type CompleteRunOptions,
  type Completion,
} from '../sql/completion';
import { IN_RUN_TRANSACTION } from '../sql/run-transaction';

/**
 * Runs `work` in a transaction that also completes the current run. The effects in the file and the completion are
 * committed together or not at all, so the effects happen exactly once even if another process also holds the run. The
 * value that `work` returns is stored as the result.
 *
 * `work` must be synchronous, as transactions of better-sqlite3 are. It gets your database, or a connection that the guard
 * opens if it was made from an address. While another process writes to the file, the transaction waits without blocking
 * the event loop. If it fails, it has had no effect, and you may call this function again.
 *
 * @throws ClaimLostError if another process has taken the run over. Everything is rolled back.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run, after `giveBack` or `skip`, if the guard was not created by
 * cronlatch/better-sqlite3, if `work` returns a promise, or if your database stays in another transaction
 * @throws the error of `work` or of the transaction
 */
export async function inRunTransaction<T>(work: (database: Database) => T): Promise<T> {
  const run = requiredContext(IN_RUN_TRANSACTION);
  const { ledger, lend } = lenderOf<Database>(run, IN_RUN_TRANSACTION, SUBPATH);
  run.beginCompletion(IN_RUN_TRANSACTION);
  try {
    const statements = await ledger.store.statements(limitOf(ledger));
    const value = await beginImmediately(lend(ledger), ledger, (database) => {
      const value = work(database);
      refusePromise(value);
      const result = serializeResult(ledger, run.claim, value);
      complete(database, { run, ledger, statements, result });
      return value;
    });
    run.confirmCompletion();
    return value;
  } finally {
    run.endCompletion();
  }
}

/**
 * Completes the current run in your own transaction, at once. Call it last before the transaction ends: its effects are
 * then committed exactly once. If the handler resolves and the transaction was not committed, the attempt counts as
 * failed.
 *
 * @param database on which you have begun the transaction, with `database.transaction` or BEGIN
 * @throws ClaimLostError if another process has taken the run over. The transaction must be rolled back.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run or a transaction, after `giveBack` or `skip`, or if the ledger is in another
 * file
 */
export function completeRunIn(database: Database, options: CompleteRunOptions = {}): void {
  const run = runOf(options);
  if (!isHandle(database)) throw unusableConnection(database);
  const ledger = ledgerIn(run, 'sqlite');
  run.beginCompletion(COMPLETE_RUN_IN);
  try {
    const { verifiedStatements: statements } = ledger.store;
    const result = serializeResult(ledger, run.claim, options.result);
    complete(database, { run, ledger, statements, result });
  } catch (error) {
    run.endCompletion();
    throw completionError(error, run, ledger);
  }
}

function complete(database: Database, completion: Completion): void {
  if (!database.inTransaction) throw transactionEnded(completion.run);
  const steps = completionSteps(completion);
  for (let step = steps.next(); !step.done; step = steps.next(runStatement(database, step.value)));
}

/** Runs `work` in a transaction as soon as no other one is open on the connection or writes to the file. */
async function beginImmediately<T>(
  database: Database,
  { clock, statementTimeoutMs }: LedgerContext,
  work: (database: Database) => T,
): Promise<T> {
  const endsAtMs = clock.monotonicMs() + statementTimeoutMs;
  for (;;) {
    let begun = false;
    const begin = (): T => {
      begun = true;
      return work(database);
    };
    try {
      if (!database.inTransaction)
        return withoutWaiting(database, () => database.transaction(begin).immediate());
    } catch (error) {
      const isBusy = sqlite.failureOf(driverErrorOf(error)) === 'contention';
      if (begun || !isBusy || clock.monotonicMs() >= endsAtMs) throw error;
    }
    if (clock.monotonicMs() >= endsAtMs)
      throw new InvalidLockUseError(
        `Could not begin the run's transaction: the database was in another transaction for ${statementTimeoutMs} ms. If your job began that transaction, complete the run in it with completeRunIn(database).`,
      );
    await pause(clock, RETRY_DELAY_MS);
  }
}

function refusePromise(result: unknown): void {
  if (!isThenable(result)) return;
  Promise.resolve(result).catch(() => {}); // The caller gets the error below.
  throw new InvalidLockUseError(
    `The work of ${IN_RUN_TRANSACTION} returned a promise, but transactions of better-sqlite3 are synchronous. Nothing was committed. Await before or after the transaction.`,
  );
}
