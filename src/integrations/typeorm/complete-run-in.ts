import type { EntityManager } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { keptResult } from '../../ledger/tick/record-outcome';
import { requiredContext } from '../../ledger/tick/run-context';
import { limitOf } from '../../ledger/store-statements';
import { applicationSession } from '../../storage/typeorm/application-session';
import { completeInTransaction } from './complete-in-transaction';
import { databaseOf } from './ledger-databases';

const CALLER = 'completeRunIn()';

/**
 * Completes the current run in a transaction of the job's own, as its last statement before COMMIT: what commits with
 * it has been done exactly once. When the handler resolves and the transaction was not committed, the attempt counts as
 * failed. `inRunTransaction` does all of it, and also limits how long a stopped process blocks the run: prefer it.
 *
 * Extend the lock before the transaction begins, not inside it: the extension is written to the row of the run, and a
 * transaction with an older snapshot then cannot complete it (PostgreSQL 40001, MariaDB 1020).
 *
 * @param manager of the transaction, as `dataSource.transaction` hands it over
 * @param result what is kept as the result of the run, if it is JSON
 * @throws ClaimLostError when somebody else has taken the run over: the transaction must be rolled back
 * @throws RunAlreadyCompletedError for a second completion of the run
 * @throws InvalidLockUseError outside a run or a transaction, after `giveBack` or `skip`, and where the ledger is in
 * another database
 */
export async function completeRunIn(manager: EntityManager, result?: unknown): Promise<void> {
  const run = requiredContext(CALLER);
  const { queryRunner } = manager;
  if (queryRunner?.isTransactionActive !== true) {
    throw new InvalidLockUseError(
      `${CALLER} needs a manager with an open transaction. Call it inside dataSource.transaction(async (manager) => { … }), or use inRunTransaction().`,
    );
  }
  const { store, ledger } = databaseOf(run, CALLER, manager.dataSource);
  run.beginCompletion(CALLER);
  try {
    const session = await applicationSession(queryRunner, ledger);
    const statements = await store.statements(limitOf(ledger));
    await completeInTransaction(session, {
      statements,
      dialect: store.database.dialect,
      claim: run.claim,
      result: keptResult(ledger, run.claim, result),
    });
  } catch (error) {
    run.endCompletion();
    throw error;
  }
}
