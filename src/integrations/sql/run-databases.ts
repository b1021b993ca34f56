import { InvalidLockUseError } from '../../core';
import { processState } from '../../core/process-state';
import type { RunStore } from '../../ledger';
import type { LedgerContext } from '../../ledger/store-statements';
import type { RunContext } from '../../ledger/tick/run-context';
import type { ApplicationSession, SessionLimits } from '../../storage/sql/database/application-session';
import type { SqlDatabase } from '../../storage/sql/database/sql-database';
import type { IsolationLevel } from '../../storage/sql/connections/server-driver';
import type { DialectName } from '../../storage/sql/dialects/sql-dialect';
import type { SqlRunStore } from '../../storage/sql/ledger/sql-run-store';

/** What an application passed to `createJobGuard`, described. */
export interface ApplicationDatabase {
  readonly database: Pick<SqlDatabase, 'place' | 'address' | 'server' | 'isInMemory'>;
  /** The DataSource, the pool or the handle. All in-memory databases have the same address, but not the same owner. */
  readonly owner: object;
}

/** The database of a transaction whose address cannot be read. */
export interface UnknownDatabase {
  readonly dialect: DialectName | undefined;
}

/** The application's database, in which runs can be completed. */
export interface RunSource extends ApplicationDatabase {
  readonly database: SqlDatabase;
  /** The subpath whose `inRunTransaction` can use it, such as `cronlatch/pg`. */
  readonly subpath: string;
}

/** A source with asynchronous transactions. */
export interface TransactionSource<Connection> extends RunSource {
  /** @throws InvalidLockUseError if the application is not connected to its database */
  open(limits: SessionLimits): Promise<RunTransaction<Connection>>;
}

/** A transaction of the application that completes a run. */
export interface RunTransaction<Connection> {
  /** What the job works with. */
  readonly connection: Connection;
  readonly session: ApplicationSession;
  /** Whether its client considers it open. */
  readonly isActive: boolean;
  /** Whether other code can send statements between the completion and COMMIT. */
  readonly sendsBeforeCommit: boolean;
  /**
   * Waits until no other transaction uses the connection, and begins. Afterwards the caller must end the transaction, even
   * if `started` rejects.
   */
  begin(isolationLevel: IsolationLevel | undefined): Promise<{ readonly started: Promise<void> }>;
  commit(): Promise<void>;
  /** Ends one level of nested transactions. */
  rollBack(): Promise<void>;
  /** Returns the connection to its pool. */
  release(): Promise<void>;
}

/** The store of a run, and its context. */
export interface RunPlace {
  readonly store: SqlRunStore;
  readonly ledger: LedgerContext;
}

const sources = processState('transaction-sources', () => new WeakMap<RunStore, RunSource>());

export function rememberSource(store: RunStore, source: RunSource): void {
  sources.set(store, source);
}

/** @throws InvalidLockUseError if the run's guard was not created by this subpath */
export function sourceOf<Source extends RunSource>(
  { ledger }: RunContext,
  caller: string,
  subpath: string,
): RunPlace & { readonly source: Source } {
  const store = ledger?.store;
  const source = store && sources.get(store);
  if (ledger !== undefined && source?.subpath === subpath && isSqlRunStore(store))
    return { source: source as Source, store, ledger };
  throw new InvalidLockUseError(
    `${caller} needs a run whose guard was created with createJobGuard() of ${subpath}${source === undefined ? '' : `, not of ${source.subpath}`}.`,
  );
}

/**
 * @param other the database of the transaction
 * @throws InvalidLockUseError if the run is kept in another database, so that effects and completion cannot commit
 * together
 */
export function placeOf(
  { ledger }: RunContext,
  caller: string,
  other: ApplicationDatabase | UnknownDatabase,
): RunPlace {
  const store = ledger?.store;
  if (ledger === undefined || !isSqlRunStore(store)) {
    throw new InvalidLockUseError(
      `${caller} needs a run whose ledger is in an SQL database. Create the guard with createJobGuard(…) of your driver.`,
    );
  }
  const { place, address, server, dialect } = store.description;
  if ('dialect' in other) {
    if (other.dialect === undefined || other.dialect === dialect.name) return { store, ledger };
    throw new InvalidLockUseError(
      `${caller} was given a transaction on ${LABELS[other.dialect]}, but the ledger is in ${address} (${place}). Use a transaction in the ledger's database, so that it can commit together with the run's completion.`,
    );
  }
  const { database } = other;
  const isSame = database.isInMemory
    ? other.owner === sources.get(store)?.owner
    : place === database.place && server === database.server;
  if (isSame) return { store, ledger };
  throw new InvalidLockUseError(
    `${caller} was given a transaction in ${database.address} (${database.place}), but the ledger is in ${address} (${place}). Use a transaction in the ledger's database, so that it can commit together with the run's completion.`,
  );
}

const LABELS = { mysql: 'MySQL or MariaDB', postgres: 'PostgreSQL', sqlite: 'SQLite' } as const;

/** Checks the shape, because a second installed copy of the library has its own class. */
function isSqlRunStore(store: RunStore | undefined): store is SqlRunStore {
  const { description, statements } = (store ?? {}) as Partial<SqlRunStore>;
  return description !== undefined && typeof statements === 'function';
}
