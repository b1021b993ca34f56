import type { DataSourceOptions } from 'typeorm';
import type { RunTableShape, SqlDialect } from '#cronlatch/storage/sql/dialects/sql-dialect';
import type { SqlStatement } from '#cronlatch/storage/sql/connections/sql-executor';

/** A server from `test/support/servers`, or SQLite. */
export interface Server {
  readonly name: string;
  /** Without the name of a database. */
  readonly url: string;
  readonly version: string;
  readonly origin: 'environment' | 'binary' | '.servers' | 'docker' | 'package';
}

/** A new database on a server whose commits are as safe as in production. */
export interface BenchDatabase extends AsyncDisposable {
  /** How an application connects to it. */
  readonly options: DataSourceOptions;
  /** The settings of the server that make a speed meaningful, as the server reports them. */
  readonly durability: string;
  /** For the statements of the library. Its time is that of the library's own tables. */
  readonly dialect: SqlDialect;
  readonly shape: Pick<RunTableShape, 'now'>;
  /** Opens a connection of the driver alone, with the settings of the library's sessions. */
  connect(): Promise<BareConnection>;
  /** `undefined` for SQLite, whose statements block the process: a second worker changes nothing. */
  readonly counters: Counters | undefined;
}

/** A driver's connection. */
export interface BareConnection {
  /** Sends a statement as a prepared one. @returns the number of written or found rows */
  send(statement: SqlStatement): Promise<number | null>;
  end(): Promise<void>;
}

export interface Counters {
  /** All connections to this database, without those that serve this object. */
  countConnections(): Promise<number>;
  /** Complete after all connections to this database have ended. */
  count(): Promise<Counts>;
}

/** What a server has counted since it started. */
export interface Counts {
  /** `undefined`: the server does not count them. */
  readonly statements: number | undefined;
  readonly commits: number;
}
