import { TypeORMError, type EntityManager } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { requiredContext } from '../../ledger/tick/run-context';
import { databaseOf, dataSourceOf } from '../../storage/typeorm/database';
import { COMPLETE_RUN_IN, completeIn } from '../sql/completion';
import type { RunTransactions } from '../sql/entry';
import { runInTransaction } from '../sql/run-transaction';
import { SUBPATH, transactionOf } from './run-transaction';

export const transactions: RunTransactions<EntityManager, EntityManager> = {
  async inRunTransaction(work, options = {}) {
    const isClientError = (error: unknown): boolean => error instanceof TypeORMError;
    return await runInTransaction({ subpath: SUBPATH, work, isClientError }, options);
  },

  async completeRunIn(manager, result) {
    requiredContext(COMPLETE_RUN_IN);
    const { queryRunner } = manager;
    if (queryRunner?.isTransactionActive !== true) {
      throw new InvalidLockUseError(
        `${COMPLETE_RUN_IN} needs a manager with an open transaction. Call it inside dataSource.transaction(async (manager) => { … }), or use inRunTransaction().`,
      );
    }
    const database = databaseOf(dataSourceOf(manager));
    await completeIn((ledger) => transactionOf(queryRunner, ledger), database, result);
  },
};
