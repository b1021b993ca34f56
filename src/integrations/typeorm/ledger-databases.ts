import type { DataSource } from 'typeorm';
import { InvalidLockUseError } from '../../core';
import { processState } from '../../core/process-state';
import type { RunStore } from '../../ledger';
import type { LedgerContext } from '../../ledger/store-statements';
import type { RunContext } from '../../ledger/tick/run-context';
import { describeDatabase } from '../../storage/typeorm/database';
import type { TypeOrmRunStore } from '../../storage/typeorm';

/** The store of a run, and the application's DataSource for the same database. */
export interface LedgerDatabase {
  readonly dataSource: DataSource;
  readonly store: TypeOrmRunStore;
  readonly ledger: LedgerContext;
}

const dataSources = processState('data-sources', () => new WeakMap<RunStore, DataSource>());

export function rememberDataSource(store: RunStore, dataSource: DataSource): void {
  dataSources.set(store, dataSource);
}

/**
 * @param other the DataSource of the transaction. Default: the one that the guard was created with.
 * @throws InvalidLockUseError if the run is kept in another database, so that effects and completion cannot commit
 * together
 */
export function databaseOf({ ledger }: RunContext, caller: string, other?: DataSource): LedgerDatabase {
  const store = ledger?.store;
  const own = store && dataSources.get(store);
  const dataSource = other ?? own;
  if (ledger === undefined || dataSource === undefined || !isTypeOrmRunStore(store)) {
    throw new InvalidLockUseError(
      `${caller} needs a run whose ledger is in the database of a DataSource. Create the guard with createJobGuard(dataSource).`,
    );
  }
  const { place, address } = store.database;
  const { place: otherPlace, address: otherAddress, isInMemory } = describeDatabase(dataSource);
  // All in-memory databases have the same address, but each DataSource has its own.
  const isSame = isInMemory ? dataSource === own : place === otherPlace && address === otherAddress;
  if (isSame) return { dataSource, store, ledger };
  throw new InvalidLockUseError(
    `${caller} was given a transaction in ${otherAddress} (${otherPlace}), but the ledger is in ${address} (${place}). Use a transaction in the ledger's database, so that it can commit together with the run's completion.`,
  );
}

/** Checks the shape, because a second installed copy of the library has its own class. */
function isTypeOrmRunStore(store: RunStore | undefined): store is TypeOrmRunStore {
  const { database, statements } = (store ?? {}) as Partial<TypeOrmRunStore>;
  return database !== undefined && typeof statements === 'function';
}
