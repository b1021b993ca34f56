import type { EntityManager } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { requiredContext } from '../../ledger/tick/run-context';
import { dataSourceOf } from '../../storage/typeorm/data-source-of';
import { databaseOf } from '../../storage/typeorm/database';
import { COMPLETE_RUN_IN, completeIn } from '../sql/completion';
import { applicationSession } from './run-transaction';

/**
 * Completes the current run in your own transaction. Call it last before COMMIT: the effects of the transaction are then
 * committed exactly once. If the handler resolves and the transaction was not committed, the attempt counts as failed.
 * Prefer `inRunTransaction`, which also limits how long a stopped process blocks the run.
 *
 * Extend the lock before the transaction begins, not inside it. The extension writes the row of the run, and a
 * transaction with an older snapshot then cannot complete it (PostgreSQL 40001, MariaDB 1020).
 *
 * @param manager of the transaction, from `dataSource.transaction`
 * @param result stored as the result of the run, if it can be serialized as JSON
 * @throws ClaimLostError if another process has taken the run over. The transaction must be rolled back.
 * @throws RunAlreadyCompletedError if the run is completed already
 * @throws InvalidLockUseError outside a run or a transaction, after `giveBack` or `skip`, or if the ledger is in another
 * database
 */
export async function completeRunIn(manager: EntityManager, result?: unknown): Promise<void> {
  requiredContext(COMPLETE_RUN_IN);
  const { queryRunner } = manager;
  if (queryRunner?.isTransactionActive !== true) {
    throw new InvalidLockUseError(
      `${COMPLETE_RUN_IN} needs a manager with an open transaction. Call it inside dataSource.transaction(async (manager) => { … }), or use inRunTransaction().`,
    );
  }
  const dataSource = dataSourceOf(manager);
  const database = { database: databaseOf(dataSource), owner: dataSource };
  await completeIn((limits) => applicationSession(queryRunner, limits), database, result);
}
