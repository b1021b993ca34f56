import type { JobGuard } from 'cronlatch';
import type { CompleteRunOptions, RunTransactionOptions } from 'cronlatch/typeorm';
import type { PostgresGuardOptions } from 'cronlatch/pg';
import type { DatabaseName } from '../databases/fresh';
import type { AskedDatabase } from '../databases/asked';

export type Rows = Record<string, unknown>[];

/** A transaction that the application begins and ends. */
export interface OwnTransaction {
  /** Writes an effect of the job, as the library writes values. */
  readonly insert: (id: number, text: string) => Promise<unknown>;
  /** Completes the current run in it. */
  readonly complete: (options?: CompleteRunOptions) => Promise<void>;
  /** Ends it without the knowledge of the library. */
  readonly commitBehind: () => Promise<unknown>;
}

/** How a library opens transactions on one database: all that a library needs for the cases of `completeRunIn`. */
export interface Library {
  readonly createJobGuard: (options: PostgresGuardOptions) => Promise<JobGuard>;
  /** Commits when the work resolves, and otherwise rolls back. */
  readonly transaction: (work: (transaction: OwnTransaction) => Promise<void>) => Promise<unknown>;
  /** Tries to complete the current run without a transaction. TypeORM refuses that before it asks the database. */
  readonly completeOutside?: () => Promise<void>;
  close(): Promise<unknown>;
}

/** A transaction that completes the current run. */
export interface RunTransaction {
  /** On better-sqlite3, the statement has taken effect when this returns. */
  query(text: string): Promise<Rows>;
  /** Calls this before the library sends the next COMMIT, and keeps it back until the promise resolves. */
  beforeCommit(hook: () => Promise<void>): void;
}

/** A connection that the pool of an application has lent. */
export interface Borrowed {
  readonly connection: { query(text: string): Promise<Rows> };
  /** What the library passes to `completeRunIn`. */
  readonly own: unknown;
  readonly release: () => void;
}

/** How an application uses a library that has `inRunTransaction`, with the same signatures for all of them. */
export interface Application extends Library {
  /** The subpath of the library's functions. */
  readonly subpath: string;
  readonly inRunTransaction: <T>(
    work: (transaction: RunTransaction) => T | PromiseLike<T>,
    options?: RunTransactionOptions,
  ) => Promise<T>;
  readonly completeRunIn: (own: unknown, options?: CompleteRunOptions) => Promise<void>;
  readonly borrow: () => Promise<Borrowed>;
  /** How many connections are in the pool. */
  size(): number;
}

export interface ApplicationOptions {
  /** Where the application connects. Default: the database's address. */
  readonly url?: string;
  readonly poolSize?: number;
  /** What the guard is created from. TypeORM needs its DataSource. */
  readonly source?: 'pool' | 'address';
  /** More options of a DataSource. */
  readonly dataSource?: object;
}

/** A library that joins all cases of transactions. */
export interface Client<App extends Application = Application> {
  /** Begins the names of its cases. */
  readonly prefix: string;
  /** The kinds of database on which the work of a transaction is synchronous. */
  readonly isSynchronousOn: readonly DatabaseName[];
  open(database: AskedDatabase, options: ApplicationOptions): Promise<App>;
}
